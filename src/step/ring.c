/* SPDX-License-Identifier: MIT */
/*
 * What is new in a buffer, copied and given back; of one that cannot be written, all that is there.
 * Events as the decoder takes them, and its findings as a step's error.
 */
#include "step/ring.h"

#include <stdlib.h>
#include <string.h>

#include "stream/values.h"
#include "text/json_text.h"

/* What bytes are decoded by, and where it is said that they cannot be. */
struct decode_by {
	const struct abi *abi;
	const struct abi_arch *arch;        /* for the names of registers; may be NULL */
	const struct opened *const *events; /* whose records they are: their attrs and ids */
	size_t count;                       /* at least one */
	struct error *error;
};

/* These events of a run. */
static struct decode_by decode_by(const struct steps *run, const struct opened *const events[],
				  size_t count, struct error *e)
{
	return (struct decode_by){.abi = run->tables->abi,
				  .arch = run->tables->arch,
				  .events = events,
				  .count = count,
				  .error = e};
}

/* The attrs with their ids; false, and said, if there is no memory. */
static bool attrs_of(const struct decode_by *by, struct attr_list *list)
{
	size_t size = by->abi->attr_size;

	*list = (struct attr_list){.bytes = calloc(by->count, size),
				   .ids = calloc(by->count, sizeof(*list->ids))};
	for (size_t i = 0; list->bytes && list->ids && i < by->count; i++) {
		struct attr_ids *ids = &list->ids[list->count++];

		memcpy(list->bytes + i * size, by->events[i]->image, size);
		if (!by->events[i]->id)
			continue;
		ids->ids = malloc(sizeof(*ids->ids));
		if (!ids->ids)
			break;
		ids->ids[ids->count++] = by->events[i]->id;
	}
	if (list->bytes && list->ids && list->count == by->count &&
	    (!by->events[by->count - 1]->id || list->ids[by->count - 1].count))
		return true;
	attr_list_free(list);
	error_no_memory(by->error, NULL, "memory for attrs");
	return false;
}

/* What the decoder says, at the step's place. */
static void say(const struct decode_by *by, const struct error *e)
{
	if (e->no_memory)
		error_no_memory(by->error, NULL, e->expected);
	else
		error_text(by->error, NULL, e->got, "%s", e->expected);
}

/* The records, a new reference, unless there was a finding or what is `err`. */
static json_t *clean_records(const struct decode_by *by, struct values *values, int err,
			     const struct error *e)
{
	char *text = values->finding ? json_text(values->finding, JSON_COMPACT) : NULL;
	json_t *records = err || values->finding ? NULL : json_incref(values->records);

	if (err)
		say(by, e);
	else if (values->finding)
		error_text(by->error, NULL, text ? text : "a diagnostic",
			   "bytes that decode strictly");
	free(text);
	values_free(values);
	return records;
}

/* A list, a new reference; NULL with `error` filled. */
static json_t *decode_records(const struct decode_by *by, const unsigned char *bytes, size_t size)
{
	struct attr_list attrs;
	struct values_by with = {by->abi, by->arch, &attrs, true};
	struct values values;
	struct error e = {0};
	json_t *records;
	int err;

	if (!attrs_of(by, &attrs))
		return NULL;
	err = values_of_records(&values, &with, bytes, size, &e);
	records = clean_records(by, &values, err, &e);
	attr_list_free(&attrs);
	return records;
}

/* The records of a ring; of the metadata page alone, none. */
static json_t *ring_records(const struct decode_by *by, const struct values_by *with,
			    const unsigned char *image, size_t size, size_t page_size)
{
	struct values values;
	struct error e = {0};
	int err;

	if (size < 2 * page_size)
		return json_array();
	err = values_of_ring(&values, with, image, size, &e);
	return clean_records(by, &values, err, &e);
}

/* An image of the mmap area: {"page": ..., "records": [...]}. */
static json_t *decode_ring(const struct decode_by *by, const unsigned char *image, size_t size,
			   size_t page_size)
{
	struct attr_list attrs;
	struct values_by with = {by->abi, by->arch, &attrs, true};
	struct error e = {0};
	json_t *records, *page = NULL;

	if (!attrs_of(by, &attrs))
		return NULL;
	records = ring_records(by, &with, image, size, page_size);
	if (records) {
		page = values_of_page(&with, image, size, &e);
		if (!page)
			say(by, &e);
	}
	attr_list_free(&attrs);
	if (page)
		return json_pack("{s:o,s:o}", "page", page, "records", records);
	json_decref(records);
	return NULL;
}

json_t *buffer_of_read(const struct steps *run, const struct opened *event,
		       const unsigned char *bytes, size_t size, struct error *error)
{
	struct decode_by by = decode_by(run, &event, 1, error);
	struct attr_list attrs;
	struct values_by with = {by.abi, by.arch, &attrs, true};
	struct error e = {0};
	json_t *members;

	if (!attrs_of(&by, &attrs))
		return NULL;
	members = values_of_read(&with, bytes, size, &e);
	if (!members)
		say(&by, &e);
	attr_list_free(&attrs);
	return members;
}

const uint64_t *buffer_head(const struct steps *run, const struct map *map)
{
	return (const uint64_t *)(const void *)(map->at + run->tables->page_at[PAGE_DATA_HEAD]);
}

/* Copies what is between data_tail and data_head, in one piece. */
static unsigned char *copy_new(const struct steps *run, const struct map *map, size_t *n,
			       uint64_t *head, struct error *e)
{
	struct where nowhere = {0};
	size_t page = run->env->page_size, size = map->length - page;
	uint64_t tail;
	unsigned char *bytes;

	*head = __atomic_load_n(buffer_head(run, map), __ATOMIC_ACQUIRE);
	memcpy(&tail, map->at + run->tables->page_at[PAGE_DATA_TAIL], sizeof(tail));
	*n = (size_t)(*head - tail);
	if (*n > size) {
		error_text(e, &nowhere, "more", "at most %zu bytes in the buffer", size);
		return NULL;
	}
	bytes = malloc(*n + 1);
	for (size_t i = 0; bytes && i < *n; i++)
		bytes[i] = map->at[page + (size_t)((tail + i) & (size - 1))];
	if (!bytes)
		error_no_memory(e, NULL, "memory for a ring buffer");
	return bytes;
}

/* Whose records can be in it. Its own first: that one decides where records do not say. */
static size_t events_into(const struct steps *run, const struct map *map,
			  const struct opened *list[])
{
	size_t n = 0;

	list[n++] = &run->events[map->event];
	for (int i = 0; i < (int)run->event_count; i++)
		if (i != map->event && run->events[i].event == i &&
		    run->events[i].output == map->event)
			list[n++] = &run->events[i];
	return n;
}

static void drain(const struct steps *run, struct map *map, uint64_t head)
{
	__atomic_store_n((uint64_t *)(void *)(map->at + run->tables->page_at[PAGE_DATA_TAIL]), head,
			 __ATOMIC_RELEASE);
}

json_t *buffer_image(const struct steps *run, const struct opened *const events[], size_t count,
		     const struct map *map, struct error *e)
{
	struct decode_by by = decode_by(run, events, count, e);
	unsigned char *copy = malloc(map->length);
	json_t *all;

	if (!copy) {
		error_no_memory(e, NULL, "memory for a ring buffer");
		return NULL;
	}
	memcpy(copy, map->at, map->length);
	all = decode_ring(&by, copy, map->length, run->env->page_size);
	free(copy);
	return all;
}

json_t *buffer_records(struct steps *run, struct map *map, bool keep, struct error *e)
{
	const struct opened *list[OPENED_MAX];
	size_t n = events_into(run, map, list), size;
	struct decode_by by = decode_by(run, list, n, e);
	json_t *all, *records;
	unsigned char *bytes;
	uint64_t head;

	if (map->length <= run->env->page_size)
		return json_array(); /* the metadata page alone */
	if (!map->writable) {
		all = buffer_image(run, list, n, map, e);
		records = json_incref(json_object_get(all, "records"));
		json_decref(all);
		return records;
	}
	bytes = copy_new(run, map, &size, &head, e);
	if (!bytes)
		return NULL;
	records = size ? decode_records(&by, bytes, size) : json_array();
	free(bytes);
	if (records && !keep)
		drain(run, map, head);
	return records;
}
