/* SPDX-License-Identifier: MIT */
/*
 * The decoder under libFuzzer or AFL++ (`make fuzz`, `make fuzz-afl`). An input is a perf.data,
 * which may be packed, or if its first byte is below 4: that byte (bit 0: an image of the mmap
 * area, not records; bit 1: big endian), a length, an attr of eight times that many bytes, and the
 * rest. The last byte tells what is made of the records, beside lines.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/attr.h"
#include "include/perfabi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int discard(void *context, const char *text, size_t size)
{
	uint64_t *sum = context;

	for (size_t i = 0; i < size;
	     i++) /* every byte is looked at, so that none is uninitialised */
		*sum += (unsigned char)text[i];
	return 0;
}

/* Every byte and name of every field. */
static void read_records(const struct perfabi *perfabi, const uint8_t *data, size_t size,
			 const struct perfabi_options *options)
{
	const struct perfabi_record *record;
	struct perfabi_reader *reader;
	uint64_t sum = 0;

	if (perfabi_open_memory(perfabi, data, size, options, &reader, NULL))
		return;
	while (perfabi_next(reader, &record) == 1)
		for (size_t i = 0; i < record->field_count; i++) {
			const struct perfabi_field *field = &record->fields[i];

			for (uint32_t k = 0; k < field->size; k++)
				sum += record->bytes[field->offset + k];
			for (uint64_t k = 0; field->kind == PERFABI_ARRAY && k < field->value; k++)
				sum += perfabi_element(record, field, k);
			sum += perfabi_value_name(record, field, field->value) != NULL;
			if (!perfabi_field_name(perfabi, field->number))
				abort();
		}
	perfabi_close(reader);
	if (sum == UINT64_MAX)
		abort();
}

/* Names half of all places, some of them with too long a name. */
static int name_place(void *context, const char *object, const char *build_id, uint64_t offset,
		      char *name, size_t size)
{
	(void)context;
	(void)build_id;
	return offset & 1 ? 0 : snprintf(name, size, "%s:%d", object, (int)(offset & 0xff));
}

/* With that output and nothing else. */
static void decode_whole(const struct perfabi *perfabi, int fd,
			 const struct perfabi_options *options, unsigned way)
{
	const struct perfabi_options ways[] = {
		{.sort = true},
		{.join = true, .symbol = name_place},
		{.flat = true},
		{.value_names = true},
		{.output = PERFABI_FOLDED, .symbol = name_place},
		{.output = PERFABI_PPROF},
		{.output = PERFABI_PPROF, .symbol = name_place, .event = "cpu-clock"},
		{.output = PERFABI_FIREFOX, .symbol = name_place},
		{.jobs = 2, .pieces = true},
	};
	struct perfabi_options whole = ways[way % (sizeof(ways) / sizeof(ways[0]))];
	struct perfabi_result result;
	uint64_t sum = 0;

	whole.format = options->format;
	whole.order = options->order;
	whole.attr = options->attr;
	perfabi_decode(perfabi, fd, &whole, discard, &sum, &result);
}

static void decode(const struct perfabi *perfabi, const uint8_t *data, size_t size,
		   struct perfabi_options *options)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	struct perfabi_result result;
	uint64_t sum = 0;
	char *attrs;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		abort();
	decode_whole(perfabi, fd, options, size ? data[size - 1] : 0);
	perfabi_decode_memory(perfabi, data, size, options, discard, &sum, &result);
	read_records(perfabi, data, size, options);
	options->check = options->bytes = true;
	lseek(fd, 0, SEEK_SET);
	perfabi_decode(perfabi, fd, options, discard, &sum, &result);
	lseek(fd, 0, SEEK_SET);
	if (!perfabi_attrs(perfabi, fd, options, &attrs, &result))
		free(attrs);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct perfabi *perfabi;
	const struct abi *abi = &abi_prepared;
	struct perfabi_options options = {0};
	size_t attr_size;
	json_t *json;
	char *text;

	if (!perfabi)
		perfabi = perfabi_new(NULL, NULL, 0);
	if (!perfabi)
		abort();
	if (size < 2)
		return 0;
	if (data[0] > 3) {
		decode(perfabi, data, size, &options);
		return 0;
	}
	attr_size = 8 * (size_t)data[1];
	if (attr_size < 64 || size < 2 + attr_size)
		return 0;
	options.format = data[0] & 1 ? PERFABI_RING : PERFABI_RECORDS;
	options.order = data[0] & 2 ? PERFABI_BIG : PERFABI_LITTLE;
	json = attr_to_json(abi, abi_arch(abi, "x86_64"), data + 2, attr_size, LITTLE);
	json_object_del(json, "bytes");
	text = json ? json_dumps(json, 0) : NULL;
	options.attr = text;
	if (text)
		decode(perfabi, data + 2 + attr_size, size - 2 - attr_size, &options);
	free(text);
	json_decref(json);
	return 0;
}
