/* SPDX-License-Identifier: MIT */
/*
 * The other side of decoder/input/perfdata.c, in this machine's byte order.
 */
#include "capture/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "text/out.h"
#include "input/perfdata.h"
#include "perfabi.h"

enum { NAME_ALIGN = 64 };

struct text {
	unsigned char *bytes;
	size_t size;
};

static int write_header(const struct recording *r, uint64_t features)
{
	const uint64_t words[] = {PERFDATA_HEADER,
				  r->entry_size,
				  r->attrs_offset,
				  r->attrs_size,
				  r->data_offset,
				  r->data_size,
				  0,
				  0,
				  features,
				  0,
				  0,
				  0};
	unsigned char header[PERFDATA_HEADER];
	uint64_t magic;
	ssize_t n;

	memcpy(&magic, "PERFILE2", sizeof(magic));
	if (BYTE_ORDER == BIG_ENDIAN) /* a number: the other order has it backwards */
		magic = __builtin_bswap64(magic);
	memcpy(header, &magic, sizeof(magic));
	memcpy(header + sizeof(magic), words, sizeof(words));
	n = pwrite(r->fd, header, sizeof(header), 0);
	return n == sizeof(header) ? 0 : n < 0 ? -errno : -EIO;
}

int recording_begin(struct recording *r, int fd, const struct recording_attr *attrs, size_t count,
		    size_t attr_size)
{
	static const unsigned char empty[PERFDATA_HEADER];
	uint64_t at = PERFDATA_HEADER;
	int err = write_fully(fd, empty, sizeof(empty));

	*r = (struct recording){.fd = fd, .entry_size = attr_size + sizeof(struct segment)};
	for (size_t i = 0; i < count && !err; i++)
		err = write_fully(fd, attrs[i].ids, attrs[i].id_count * sizeof(uint64_t));
	for (size_t i = 0; i < count; i++)
		r->attrs_offset += attrs[i].id_count * sizeof(uint64_t);
	r->attrs_offset += PERFDATA_HEADER;
	r->attrs_size = count * r->entry_size;
	for (size_t i = 0; i < count && !err; i++) {
		struct segment ids = {at, attrs[i].id_count * sizeof(uint64_t)};

		at += ids.size;
		err = write_fully(fd, attrs[i].attr, attr_size);
		if (!err)
			err = write_fully(fd, &ids, sizeof(ids));
	}
	r->data_offset = r->attrs_offset + r->attrs_size;
	return err ? err : write_header(r, 0); /* without a size: not closed yet */
}

int recording_append(struct recording *r, const void *bytes, size_t size)
{
	int err = write_fully(r->fd, bytes, size);

	if (!err)
		r->data_size += size;
	return err;
}

static void put_u32(struct text *text, uint32_t value)
{
	memcpy(text->bytes + text->size, &value, sizeof(value));
	text->size += sizeof(value);
}

static size_t padded(const char *string)
{
	return (strlen(string) + 1 + NAME_ALIGN - 1) & ~(size_t)(NAME_ALIGN - 1);
}

/* A length, then the text with its NUL, zero-padded to a multiple of 64. */
static void put_string(struct text *text, const char *string)
{
	size_t n = padded(string);

	put_u32(text, (uint32_t)n);
	memset(text->bytes + text->size, 0, n);
	memcpy(text->bytes + text->size, string, strlen(string));
	text->size += n;
}

static void put_command(struct text *text, char *const command[])
{
	uint32_t count = 0;

	while (command[count])
		count++;
	put_u32(text, count);
	for (uint32_t i = 0; i < count; i++)
		put_string(text, command[i]);
}

static void put_nrcpus(struct text *text)
{
	put_u32(text, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	put_u32(text, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}

/* What all sections take together: numbers, the names of uname(2) and the version, the command. */
static size_t longest_text(char *const command[])
{
	size_t longest = 8192;

	for (size_t i = 0; command[i]; i++)
		longest += 4 + padded(command[i]);
	return longest;
}

/* A section that ends here: its bit, by the feature's name, and its place in the table. */
static void end_section(struct segment *section, uint64_t begin, const struct text *text,
			size_t before, const struct abi_family *features, const char *name,
			uint64_t *bits)
{
	const struct abi_value *feature = features ? abi_value(features, name, NULL) : NULL;

	*section = (struct segment){begin + before, text->size - before};
	if (feature)
		*bits |= UINT64_C(1) << (feature->value & 63);
}

int recording_end(struct recording *r, const struct abi *abi, char *const command[])
{
	const struct abi_family *features = abi_family(abi, "feature");
	enum {
		HOSTNAME,
		OSRELEASE,
		VERSION,
		ARCH,
		NRCPUS,
		CMDLINE,
		COUNT
	}; /* in the bits' order */
	static const char *const names[COUNT] = {"hostname", "osrelease", "version",
						 "arch",     "nrcpus",    "cmdline"};
	struct segment table[COUNT];
	struct text text = {malloc(longest_text(command)), 0};
	uint64_t bits = 0, at = r->data_offset + r->data_size + sizeof(table);
	struct utsname u;
	int err;

	if (!text.bytes)
		return -ENOMEM;
	if (uname(&u))
		memset(&u, 0, sizeof(u));
	for (size_t i = 0; i < COUNT; i++) {
		const char *const strings[COUNT] = {u.nodename, u.release, PERFABI_VERSION_TEXT,
						    u.machine};
		size_t before = text.size;

		if (strings[i])
			put_string(&text, strings[i]);
		else if (i == NRCPUS)
			put_nrcpus(&text);
		else
			put_command(&text, command);
		end_section(&table[i], at, &text, before, features, names[i], &bits);
	}
	err = write_fully(r->fd, table, sizeof(table));
	if (!err)
		err = write_fully(r->fd, text.bytes, text.size);
	if (!err)
		err = write_header(r, bits);
	free(text.bytes);
	return err;
}
