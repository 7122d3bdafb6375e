/* SPDX-License-Identifier: MIT */
/*
 * The other side of decoder/perfdata.c, in this machine's byte order.
 */
#include "recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "out.h"
#include "report.h"

enum { FILE_HEADER = 104, NAME_ALIGN = 64, FEATURES_MAX = 8, TEXT_MAX = 128 * 1024 };

/* Bits of the features that are written: HEADER_HOSTNAME... of perf's header.h. */
enum { HOSTNAME = 3, OSRELEASE = 4, VERSION = 5, ARCH = 6, NRCPUS = 7, CMDLINE = 11 };

struct section {
	uint64_t offset, size;
};

struct text {
	unsigned char *bytes;
	size_t size;
};

int recording_begin(struct recording *r, int fd, const struct recording_attr *attrs, size_t count,
		    size_t attr_size)
{
	static const unsigned char empty[FILE_HEADER];
	uint64_t at = FILE_HEADER;
	int err = write_fully(fd, empty, sizeof(empty));

	*r = (struct recording){.fd = fd, .entry_size = attr_size + sizeof(struct section)};
	for (size_t i = 0; i < count && !err; i++)
		err = write_fully(fd, attrs[i].ids, attrs[i].id_count * sizeof(uint64_t));
	for (size_t i = 0; i < count; i++)
		r->attrs_offset += attrs[i].id_count * sizeof(uint64_t);
	r->attrs_offset += FILE_HEADER;
	r->attrs_size = count * r->entry_size;
	for (size_t i = 0; i < count && !err; i++) {
		struct section ids = {at, attrs[i].id_count * sizeof(uint64_t)};

		at += ids.size;
		err = write_fully(fd, attrs[i].attr, attr_size);
		if (!err)
			err = write_fully(fd, &ids, sizeof(ids));
	}
	r->data_offset = r->attrs_offset + r->attrs_size;
	return err;
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

/* A length, then the text with its NUL, zero-padded to a multiple of 64. */
static void put_string(struct text *text, const char *string)
{
	size_t n = strlen(string) + 1, padded = (n + NAME_ALIGN - 1) & ~(size_t)(NAME_ALIGN - 1);

	if (text->size + 4 + padded > TEXT_MAX)
		return;
	put_u32(text, (uint32_t)padded);
	memset(text->bytes + text->size, 0, padded);
	memcpy(text->bytes + text->size, string, n);
	text->size += padded;
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

static void put_feature(struct text *text, unsigned feature, const struct utsname *u,
			char *const command[])
{
	switch (feature) {
	case HOSTNAME:
		put_string(text, u->nodename);
		break;
	case OSRELEASE:
		put_string(text, u->release);
		break;
	case VERSION:
		put_string(text, perfabi_version);
		break;
	case ARCH:
		put_string(text, u->machine);
		break;
	case NRCPUS:
		put_u32(text, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
		put_u32(text, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
		break;
	case CMDLINE:
		put_command(text, command);
		break;
	}
}

static int write_header(const struct recording *r, uint64_t features)
{
	const uint64_t words[] = {FILE_HEADER,
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
	unsigned char header[FILE_HEADER];
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

int recording_end(struct recording *r, char *const command[])
{
	static const unsigned list[] = {HOSTNAME, OSRELEASE, VERSION, ARCH, NRCPUS, CMDLINE};
	enum { COUNT = sizeof(list) / sizeof(list[0]) };
	struct section table[COUNT];
	struct text text = {malloc(TEXT_MAX), 0};
	uint64_t features = 0, at = r->data_offset + r->data_size + sizeof(table);
	struct utsname u;
	int err;

	if (!text.bytes)
		return -ENOMEM;
	if (uname(&u))
		memset(&u, 0, sizeof(u));
	for (size_t i = 0; i < COUNT; i++) {
		size_t before = text.size;

		features |= UINT64_C(1) << list[i];
		put_feature(&text, list[i], &u, command);
		table[i] = (struct section){at + before, text.size - before};
	}
	err = write_fully(r->fd, table, sizeof(table));
	if (!err)
		err = write_fully(r->fd, text.bytes, text.size);
	if (!err)
		err = write_header(r, features);
	free(text.bytes);
	return err;
}
