/* SPDX-License-Identifier: MIT */
/*
 * What events have written: the ring buffer drained, and decoded by the decoder that people use.
 * data_head is read before the data it covers and data_tail written after it was copied, as the
 * kernel's ring_buffer.c asks for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stream/decode.h"
#include "call/mmap_page.h"
#include "step/step.h"

/* The attrs as perfabi_decode() takes them. */
static char *attrs_text(const struct step *s, const struct opened *const events[], size_t count)
{
	const struct abi *abi = s->cases->abi;
	json_t *list = json_array();
	char *text;

	for (size_t i = 0; i < count; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "attr",
				    attr_to_json(abi, s->run->env->arch, events[i]->image,
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
static json_t *decode(struct step *s, const struct opened *const events[], size_t count,
		      const unsigned char *bytes, size_t size, enum perfabi_format format,
		      bool check)
{
	char *attrs = attrs_text(s, events, count);
	struct perfabi_options options = {.format = format, .attr = attrs, .check = check};
	struct perfabi_result result = {0};
	struct out lines;
	json_t *list = NULL;
	int fd = as_file(bytes, size), err = fd < 0 ? fd : out_init(&lines, NULL, NULL);

	if (!err) {
		out_append(&lines, "", 0);
		err = perfabi_decode(s->cases->decoder, fd, &options, out_append, &lines, &result);
		list = err ? NULL : parse_lines(lines.base);
		out_free(&lines);
	}
	if (fd >= 0)
		close(fd);
	free(attrs);
	if (!list)
		error_text(s->error, s->where,
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
static bool is_clean(struct step *s, const json_t *lines, bool goes_round)
{
	json_t *line;
	size_t i;

	json_array_foreach(lines, i, line) {
		char *text;

		if (strcmp(json_string_value(json_object_get(line, "type")), "diagnostic") != 0 ||
		    is_overwritten(line, goes_round))
			continue;
		text = json_dumps(line, JSON_COMPACT);
		error_text(s->error, s->where, text ? text : "a diagnostic",
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

static json_t *decode_strictly(struct step *s, const struct opened *const events[], size_t count,
			       const unsigned char *bytes, size_t size, enum perfabi_format format)
{
	json_t *findings = decode(s, events, count, bytes, size, format, true), *lines;
	bool goes_round = format == PERFABI_RING;
	bool clean = findings && is_clean(s, findings, goes_round);

	json_decref(findings);
	lines = clean ? decode(s, events, count, bytes, size, format, false) : NULL;
	if (lines && !is_clean(s, lines, goes_round)) {
		json_decref(lines);
		return NULL;
	}
	return lines;
}

json_t *decode_records(struct step *s, const struct opened *const events[], size_t count,
		       const unsigned char *bytes, size_t size)
{
	json_t *lines = decode_strictly(s, events, count, bytes, size, PERFABI_RECORDS);
	json_t *records = lines ? records_of(lines) : NULL;

	json_decref(lines);
	return records;
}

json_t *decode_ring(struct step *s, const struct opened *const events[], size_t count,
		    const struct map *map)
{
	size_t page = s->run->env->page_size, size = map->length;
	unsigned char *copy = calloc(1, size < 2 * page ? 2 * page : size);
	json_t *lines, *out = NULL, *header;

	if (!copy) {
		step_failed(s, ENOMEM);
		return NULL;
	}
	memcpy(copy, map->at, size);
	if (size < 2 * page) { /* no data: the decoder wants some */
		size = 2 * page;
		memset(copy + mmap_page_offset(s->cases->abi, "data_head"), 0, 8);
	}
	lines = decode_strictly(s, events, count, copy, size, PERFABI_RING);
	header = json_array_get(lines, 0);
	if (lines)
		out = json_pack("{s:O?,s:o}", "page", json_object_get(header, "page"), "records",
				records_of(lines));
	json_decref(lines);
	free(copy);
	return out;
}

/* Copies what is between data_tail and data_head, in one piece. */
static unsigned char *copy_new(struct step *s, const struct map *map, size_t *n, uint64_t *head)
{
	const struct abi *abi = s->cases->abi;
	size_t page = s->run->env->page_size, size = map->length - page;
	uint64_t tail;
	unsigned char *bytes;

	*head = __atomic_load_n((uint64_t *)(void *)(map->at + mmap_page_offset(abi, "data_head")),
				__ATOMIC_ACQUIRE);
	memcpy(&tail, map->at + mmap_page_offset(abi, "data_tail"), sizeof(tail));
	*n = (size_t)(*head - tail);
	if (*n > size) {
		error_text(s->error, s->where, "more", "at most %zu bytes in the buffer", size);
		return NULL;
	}
	bytes = malloc(*n + 1);
	for (size_t i = 0; bytes && i < *n; i++)
		bytes[i] = map->at[page + (size_t)((tail + i) & (size - 1))];
	if (!bytes)
		step_failed(s, ENOMEM);
	return bytes;
}

static size_t events_into(const struct steps *run, int fd, const struct opened *list[])
{
	size_t n = 0;

	/* The buffer's own first: it decides where records do not say. */
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < run->event_count; i++)
			if (run->events[i].output == fd && (run->events[i].fd == fd) == !pass)
				list[n++] = &run->events[i];
	return n;
}

static void drain(const struct step *s, struct map *map, uint64_t head)
{
	__atomic_store_n(
		(uint64_t *)(void *)(map->at + mmap_page_offset(s->cases->abi, "data_tail")), head,
		__ATOMIC_RELEASE);
}

static json_t *read_buffer(struct step *s, struct map *map, bool keep)
{
	const struct opened *list[OPENED_MAX];
	size_t n = events_into(s->run, map->fd, list), size;
	json_t *all, *records;
	unsigned char *bytes;
	uint64_t head;

	if (map->length <= s->run->env->page_size)
		return json_array(); /* the metadata page alone */
	if (!map->writable) {
		all = decode_ring(s, list, n, map);
		records = json_incref(json_object_get(all, "records"));
		json_decref(all);
		return records;
	}
	bytes = copy_new(s, map, &size, &head);
	if (!bytes)
		return NULL;
	records = size ? decode_records(s, list, n, bytes, size) : json_array();
	free(bytes);
	if (records && !keep)
		drain(s, map, head);
	return records;
}

static bool is_of(const json_t *types, const json_t *record)
{
	const char *type = json_string_value(json_object_get(record, "type"));
	json_t *item;
	size_t i;

	json_array_foreach(types, i, item)
		if (!strcasecmp(json_string_value(item), type))
			return true;
	return false;
}

static void keep_types(json_t *records, const json_t *types)
{
	for (size_t i = json_array_size(records); types && i-- > 0;)
		if (!is_of(types, json_array_get(records, i)))
			json_array_remove(records, i);
}

static int check_types(struct step *s, const json_t *types)
{
	const struct abi_family *family = abi_family(s->cases->abi, "record");
	struct where at = where_key(s->where, "of");
	json_t *item;
	size_t i;

	if (types && !json_is_array(types))
		return error_value(s->error, &at, types, "a list of records' types");
	json_array_foreach(types, i, item) {
		const char *name = json_string_value(item);
		struct nearest near = nearest_to(name ? name : "");

		if (!name || !abi_value(family, name, &near))
			return error_name(s->error, &at, name ? name : "", near.best,
					  "a record of cases/abi");
	}
	return 0;
}

/* The fd of the event, by name or, at the end of a case, by number. */
static int read_fd(struct step *s, int *fd)
{
	uint64_t value;
	int err;

	if (json_is_integer(s->argument)) {
		*fd = (int)json_integer_value(s->argument);
		return 0;
	}
	err = step_bound(s, NULL, &value);
	*fd = (int)value;
	return err;
}

int verb_records(struct step *s)
{
	const json_t *types = json_object_get(s->json, "of");
	struct map *map;
	bool keep;
	int fd, err = read_fd(s, &fd);

	if (!err)
		err = check_types(s, types);
	if (!err)
		err = step_truth(s, "keep", false, &keep);
	if (err || step_is_checked(s))
		return err;
	map = step_map(s, fd);
	if (!map)
		return error_value(s->error, &s->at, s->argument, "an event that is mapped");
	s->seen = read_buffer(s, map, keep);
	if (!s->seen)
		return -ECANCELED;
	keep_types(s->seen, types);
	return 0;
}
