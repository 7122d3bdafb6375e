/* SPDX-License-Identifier: MIT */
/*
 * The file header as tools/perf/util/header.c writes it.
 */
#include "input/perfdata.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/arena.h"
#include "text/source.h"

enum { OFFSET_SIZE = 8, OFFSET_FEATURES = 72 };

static const char magic_2[] = "PERFILE2", magic_1[] = "PERFFILE";

/* The magic is a number: a file of the other byte order has it backwards. */
static bool is_magic(const unsigned char *bytes, const char *magic, bool backwards)
{
	for (size_t i = 0; i < PERFDATA_MAGIC; i++)
		if (bytes[i] != (unsigned char)magic[backwards ? PERFDATA_MAGIC - 1 - i : i])
			return false;
	return true;
}

bool perfdata_detect(const unsigned char *bytes, size_t n, enum byte_order *order)
{
	if (n < PERFDATA_MAGIC)
		return false;
	/* PERFFILE was written as text, in either order alike; the sizes behind it tell. */
	if (is_magic(bytes, magic_1, false)) {
		*order = n >= 16 && load_word(bytes + OFFSET_SIZE, 8, LITTLE) > UINT32_MAX ? BIG
											   : LITTLE;
		return true;
	}
	if (is_magic(bytes, magic_2, false))
		*order = LITTLE;
	else if (is_magic(bytes, magic_2, true) || is_magic(bytes, magic_1, true))
		*order = BIG;
	else
		return false;
	return true;
}

struct segment perfdata_segment(const unsigned char *bytes, enum byte_order order)
{
	return (struct segment){load_word(bytes, 8, order), load_word(bytes + 8, 8, order)};
}

/*
 * The bits were written as unsigned longs: by a big-endian machine of 32 bits the halves of each
 * word are the other way round. HOSTNAME, which perf always writes, tells.
 */
static void read_features(struct perfdata *file, const struct abi *abi, const unsigned char *bytes,
			  enum byte_order order)
{
	uint64_t hostname = abi_number(abi, "feature", "hostname");
	uint64_t bit = hostname && hostname < 32 ? UINT64_C(1) << hostname : 0;

	for (size_t i = 0; i < FEATURES / 64; i++)
		file->features[i] = load_word(bytes + 8 * i, 8, order);
	if (order == LITTLE || file->features[0] & bit || !(file->features[0] >> 32 & bit))
		return;
	for (size_t i = 0; i < FEATURES / 64; i++)
		file->features[i] = file->features[i] >> 32 | file->features[i] << 32;
}

int perfdata_open(struct perfdata *file, const struct abi *abi, struct input *in,
		  enum byte_order order, struct error *e)
{
	unsigned char bytes[PERFDATA_HEADER] = {0};
	size_t n = input_fill(in, PERFDATA_PIPE_HEADER);

	*file = (struct perfdata){.version = 2};
	if (n < PERFDATA_PIPE_HEADER)
		return error_text(e, NULL, "less", "a perf.data of at least %d bytes",
				  PERFDATA_PIPE_HEADER);
	memcpy(bytes, input_bytes(in), PERFDATA_PIPE_HEADER);
	if (is_magic(bytes, magic_1, false) || is_magic(bytes, magic_1, true))
		file->version = 1;
	file->header_size = load_word(bytes + OFFSET_SIZE, 8, order);
	if (file->header_size == PERFDATA_PIPE_HEADER) {
		file->is_pipe = true;
		return 0;
	}
	n = input_fill(in, PERFDATA_HEADER);
	if (n > PERFDATA_HEADER)
		n = PERFDATA_HEADER;
	memcpy(bytes, input_bytes(in), n);
	if (n < OFFSET_FEATURES || file->header_size < OFFSET_FEATURES)
		return error_text(e, NULL, "less", "a file header of at least %d bytes",
				  OFFSET_FEATURES);
	file->attr_size = load_word(bytes + PERFDATA_ATTR_SIZE, 8, order);
	file->attrs = perfdata_segment(bytes + PERFDATA_ATTRS, order);
	file->data = perfdata_segment(bytes + PERFDATA_DATA_OFFSET, order);
	file->open_ended = !file->data.size;
	if (file->header_size >= PERFDATA_HEADER && n == PERFDATA_HEADER && !file->open_ended)
		read_features(file, abi, bytes + OFFSET_FEATURES, order);
	return 0;
}

bool perfdata_has_feature(const struct perfdata *file, const struct abi *abi, const char *name)
{
	uint64_t n = abi_number(abi, "feature", name);

	return n && n < FEATURES && file->features[n / 64] >> n % 64 & 1;
}

/*
 * perf's directory format, tools/perf/util/data.c.
 */

static int by_number(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

/* Takes the number of data.N; other names are none. */
static int take_file_name(struct parts *parts, const char *name)
{
	unsigned number = 0;
	char same[32];

	sscanf(name, "data.%7u", &number);
	snprintf(same, sizeof(same), "data.%u", number);
	if (strcmp(name, same) != 0)
		return 0;
	if (parts->count == PARTS_MAX)
		return -E2BIG;
	if (list_grow(&parts->numbers, parts->count, &parts->capacity, sizeof(*parts->numbers)))
		return -ENOMEM;
	parts->numbers[parts->count++] = number;
	return 0;
}

int parts_find(struct parts *parts, int dir)
{
	DIR *names = folder_open_at(dir, ".");
	const struct dirent *entry;
	int err = 0;

	*parts = (struct parts){.dir = dir};
	if (!names)
		return -errno;
	for (errno = 0; !err && (entry = readdir(names)); errno = 0)
		err = take_file_name(parts, entry->d_name);
	err = err ? err : -errno;
	closedir(names);
	if (!err && parts->count)
		qsort(parts->numbers, parts->count, sizeof(*parts->numbers), by_number);
	return err;
}

int parts_open(const struct parts *parts, const unsigned *number, struct stat *st)
{
	char name[32] = "data";
	int fd;

	if (number)
		snprintf(name, sizeof(name), "data.%u", *number);
	fd = openat(parts->dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, st) && S_ISREG(st->st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}
