/* SPDX-License-Identifier: MIT */
/*
 * What events have written, through the decoder that people use.
 */
#include "step/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call/mmap_page.h"
#include "stream/decode.h"

/* The attrs as perfabi_decode() takes them. */
static char *attrs_text(const struct steps *s, const struct opened *const events[], size_t count)
{
	const struct abi *abi = s->tables->abi;
	json_t *list = json_array();
	char *text;

	for (size_t i = 0; i < count; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "attr",
				    attr_to_json(abi, s->env->arch, events[i]->image,
						 abi->attr_size, host_order()));
		if (events[i]->id)
			json_object_set_new(one, "ids",
					    json_pack("[I]", (json_int_t)events[i]->id));
		json_array_append_new(list, one);
	}
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

/*
 * jansson's integers end at 2^63 - 1: what is larger becomes "0x..." text, which patterns take as
 * the number it is. The caller frees.
 */
static char *without_large_numbers(const char *line)
{
	char *out = malloc(strlen(line) * 2 + 1), *to = out;
	bool in_text = false;

	while (out && *line) {
		size_t n = in_text ? 0 : strspn(line, "0123456789");
		uint64_t value = n ? strtoull(line, NULL, 10) : 0;

		if (*line == '"')
			in_text = !in_text;
		if (in_text && *line == '\\' && line[1])
			*to++ = *line++;
		if (value > INT64_MAX)
			to += sprintf(to, "\"0x%llx\"", (unsigned long long)value);
		else
			to += sprintf(to, "%.*s", n ? (int)n : 1, line);
		line += n ? n : 1;
	}
	if (out)
		*to = '\0';
	return out;
}

static json_t *parse_line(const char *line)
{
	json_t *json = json_loads(line, 0, NULL);
	char *text = json ? NULL : without_large_numbers(line);

	if (text)
		json = json_loads(text, 0, NULL);
	free(text);
	return json;
}

/* The lines, parsed: a list of objects. NULL if one is no JSON. */
static json_t *parse_lines(char *text)
{
	json_t *list = json_array();

	for (char *line = text, *end; line && *line; line = end) {
		json_t *one;

		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		one = parse_line(line);
		if (!one) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, one);
	}
	return list;
}

static int as_file(const unsigned char *bytes, size_t size)
{
	int fd = (int)syscall(SYS_memfd_create, "perfabi", 1U /* MFD_CLOEXEC */);
	int err = fd < 0 ? -errno : write_fully(fd, bytes, size);

	if (!err && lseek(fd, 0, SEEK_SET))
		err = -errno;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* Bytes through the decoder. NULL with the step's error filled. */
static json_t *decode(const struct steps *s, const struct opened *const events[], size_t count,
		      const unsigned char *bytes, size_t size, enum perfabi_format format,
		      bool check, struct error *e)
{
	char *attrs = attrs_text(s, events, count);
	struct where nowhere = {0};
	struct perfabi_options options = {.format = format, .attr = attrs, .check = check};
	struct perfabi_result result = {0};
	struct out lines;
	json_t *list = NULL;
	int fd = as_file(bytes, size), err = fd < 0 ? fd : out_init(&lines, NULL, NULL);

	if (!err) {
		out_append(&lines, "", 0);
		err = perfabi_decode(s->tables->decoder, fd, &options, out_append, &lines, &result);
		list = err ? NULL : parse_lines(lines.base);
		out_free(&lines);
	}
	if (fd >= 0)
		close(fd);
	free(attrs);
	if (!list)
		error_text(e, &nowhere,
			   result.message[0] ? result.message : strerror(err < 0 ? -err : EBADMSG),
			   "bytes that the decoder takes");
	return list;
}

/* The oldest record of a ring that goes round may have lost its end to the newest. */
static bool is_overwritten(const json_t *line, bool goes_round)
{
	return goes_round &&
	       !strcmp(json_string_value(json_object_get(line, "code")), "overwritten");
}

/* Whether there is no finding among the lines; else says the first. */
static bool is_clean(const json_t *lines, bool goes_round, struct error *e)
{
	struct where nowhere = {0};
	json_t *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		char *text;

		if (strcmp(json_string_value(json_object_get(line, "type")), "diagnostic") != 0 ||
		    is_overwritten(line, goes_round))
			continue;
		text = json_dumps(line, JSON_COMPACT);
		error_text(e, &nowhere, text ? text : "a diagnostic",
			   "bytes that decode strictly");
		free(text);
		return false;
	}
	return true;
}

/* Only the records among the lines. */
static json_t *records_of(const json_t *lines)
{
	json_t *out = json_array(), *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		const char *type = json_string_value(json_object_get(line, "type"));

		if (type && type[0] >= 'A' && type[0] <= 'Z')
			json_array_append(out, line);
	}
	return out;
}

static json_t *decode_strictly(const struct steps *s, const struct opened *const events[], size_t count,
			       const unsigned char *bytes, size_t size, enum perfabi_format format,
			       struct error *e)
{
	json_t *findings = decode(s, events, count, bytes, size, format, true, e), *lines;
	bool goes_round = format == PERFABI_RING;
	bool clean = findings && is_clean(findings, goes_round, e);

	json_decref(findings);
	lines = clean ? decode(s, events, count, bytes, size, format, false, e) : NULL;
	if (lines && !is_clean(lines, goes_round, e)) {
		json_decref(lines);
		return NULL;
	}
	return lines;
}

json_t *decode_records(const struct steps *s, const struct opened *const events[], size_t count,
		       const unsigned char *bytes, size_t size, struct error *e)
{
	json_t *lines = decode_strictly(s, events, count, bytes, size, PERFABI_RECORDS, e);
	json_t *records = lines ? records_of(lines) : NULL;

	json_decref(lines);
	return records;
}

json_t *decode_ring(const struct steps *s, const struct opened *const events[], size_t count,
		    const struct map *map, struct error *e)
{
	size_t page = s->env->page_size, size = map->length;
	unsigned char *copy = calloc(1, size < 2 * page ? 2 * page : size);
	json_t *lines, *out = NULL, *header;

	if (!copy) {
		error_no_memory(e, NULL, "memory for a ring buffer");
		return NULL;
	}
	memcpy(copy, map->at, size);
	if (size < 2 * page) { /* no data: the decoder wants some */
		size = 2 * page;
		memset(copy + mmap_page_offset(s->tables->abi, "data_head"), 0, 8);
	}
	lines = decode_strictly(s, events, count, copy, size, PERFABI_RING, e);
	header = json_array_get(lines, 0);
	if (lines)
		out = json_pack("{s:O?,s:o}", "page", json_object_get(header, "page"), "records",
				records_of(lines));
	json_decref(lines);
	free(copy);
	return out;
}


/*
 * What read(2) gives is what a sample with PERF_SAMPLE_READ holds: the decoder has its layout, so
 * the bytes are given to it as one.
 */
json_t *decode_read(const struct steps *s, const struct opened *event, const unsigned char *bytes,
		    size_t size, struct error *e)
{
	const struct abi *abi = s->tables->abi;
	const struct abi_family *types = abi_family(abi, "record"),
				*bits = abi_family(abi, "sample_type");
	const struct abi_field *type = abi_field(abi, "sample_type");
	const struct abi_value *sample = abi_value(types, "sample", NULL);
	struct opened as_sample = *event;
	const struct opened *list[] = {&as_sample};
	unsigned char *record = calloc(1, size + 8);
	uint32_t head[2] = {(uint32_t)sample->value, (uint32_t)(size + 8) << 16};
	json_t *records, *shown;

	if (BYTE_ORDER == BIG_ENDIAN)
		head[1] = (uint32_t)(size + 8);
	as_sample.image = malloc(abi->attr_size);
	if (!record || !as_sample.image) {
		free(record);
		free(as_sample.image);
		error_no_memory(e, NULL, "memory for what was read");
		return NULL;
	}
	memcpy(record, head, 8);
	memcpy(record + 8, bytes, size);
	memcpy(as_sample.image, event->image, abi->attr_size);
	attr_set(type, as_sample.image, host_order(), abi_value(bits, "read", NULL)->value);
	records = decode_records(s, list, 1, record, size + 8, e);
	shown = json_incref(json_object_get(json_array_get(records, 0), "read"));
	free(record);
	free(as_sample.image);
	json_decref(records);
	return shown;
}
