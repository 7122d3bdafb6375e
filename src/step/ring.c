/* SPDX-License-Identifier: MIT */
/*
 * What is new in a buffer, copied and given back; of one that cannot be written, all that is there.
 * Events as the decoder takes them, and its findings as a step's error.
 */
#include "step/step.h"

#include <stdlib.h>
#include <string.h>

#include "step/values.h"
#include "text/json_text.h"

/* Their attrs with their ids. */
static void attrs_of(const struct steps *run, const struct opened *const events[], size_t count,
		     struct attr_list *list)
{
	size_t size = run->tables->abi->attr_size;

	*list = (struct attr_list){.bytes = or_exit(calloc(count, size)),
				   .ids = or_exit(calloc(count, sizeof(*list->ids)))};
	for (size_t i = 0; i < count; i++) {
		struct attr_ids *ids = &list->ids[list->count++];

		memcpy(list->bytes + i * size, events[i]->image, size);
		if (!events[i]->id)
			continue;
		ids->ids = or_exit(malloc(sizeof(*ids->ids)));
		ids->ids[ids->count++] = events[i]->id;
	}
}

/* The records, a new reference, unless there was a finding or what is `err`. */
static json_t *clean_records(struct values *values, int err, struct error *e)
{
	char *text = values->finding ? json_text(values->finding, JSON_COMPACT) : NULL;
	json_t *records = err || values->finding ? NULL : json_incref(values->records);

	if (!err && values->finding)
		error_text(e, NULL, text ? text : "a diagnostic", "bytes that decode strictly");
	free(text);
	values_free(values);
	return records;
}

json_t *buffer_of_read(const struct steps *run, const struct opened *event,
		       const unsigned char *bytes, size_t size, struct error *e)
{
	struct attr_list attrs = {0};
	struct values_by with = {run->tables->abi, run->tables->arch, &attrs, true};
	json_t *members;

	attrs_of(run, &event, 1, &attrs);
	members = values_of_read(&with, bytes, size, e);
	attr_list_free(&attrs);
	return members;
}

const uint64_t *buffer_head(const struct steps *run, const struct map *map)
{
	return (const uint64_t *)(const void *)(map->at + run->tables->page_at[PAGE_DATA_HEAD]);
}

/* The metadata page alone has no records. */
json_t *buffer_image(const struct steps *run, const struct opened *const events[], size_t count,
		     const struct map *map, struct error *e)
{
	unsigned char *copy = or_exit(malloc(map->length));
	json_t *records = NULL, *page = NULL;
	struct attr_list attrs = {0};
	struct values_by with = {run->tables->abi, run->tables->arch, &attrs, true};
	struct values values;

	attrs_of(run, events, count, &attrs);
	memcpy(copy, map->at, map->length);
	if (map->length < 2 * run->env->page_size)
		records = json_array();
	else
		records = clean_records(
			&values, values_of(&values, &with, PERFABI_RING, copy, map->length, e), e);
	if (records)
		page = values_of_page(&with, copy, map->length, e);
	attr_list_free(&attrs);
	free(copy);
	if (page)
		return json_pack("{s:o,s:o}", "page", page, "records", records);
	json_decref(records);
	return NULL;
}

/* Whose records can be in it: its own event first, which decides where records do not say. */
json_t *buffer_records(struct steps *run, struct map *map, bool keep, struct error *e)
{
	size_t page = run->env->page_size, size = map->length - page, count = 1, n;
	const struct opened *list[OPENED_MAX] = {&run->events[map->event]};
	unsigned char *tail_at = map->at + run->tables->page_at[PAGE_DATA_TAIL], *bytes;
	struct attr_list attrs = {0};
	struct values_by with = {run->tables->abi, run->tables->arch, &attrs, true};
	json_t *all, *records;
	uint64_t head, tail;
	struct values values;

	if (map->length <= page)
		return json_array(); /* the metadata page alone */
	for (int i = 0; i < (int)run->event_count; i++)
		if (i != map->event && run->events[i].event == i &&
		    run->events[i].output == map->event)
			list[count++] = &run->events[i];
	if (!map->writable) {
		all = buffer_image(run, list, count, map, e);
		records = json_incref(json_object_get(all, "records"));
		json_decref(all);
		return records;
	}
	/* What is between data_tail and data_head, in one piece. */
	head = __atomic_load_n(buffer_head(run, map), __ATOMIC_ACQUIRE);
	memcpy(&tail, tail_at, sizeof(tail));
	n = (size_t)(head - tail);
	if (!n)
		return json_array();
	if (n > size) {
		error_text(e, NULL, "more", "at most %zu bytes in the buffer", size);
		return NULL;
	}
	bytes = or_exit(malloc(n));
	for (size_t i = 0; i < n; i++)
		bytes[i] = map->at[page + (size_t)((tail + i) & (size - 1))];
	attrs_of(run, list, count, &attrs);
	records =
		clean_records(&values, values_of(&values, &with, PERFABI_RECORDS, bytes, n, e), e);
	attr_list_free(&attrs);
	free(bytes);
	if (records && !keep)
		__atomic_store_n((uint64_t *)(void *)tail_at, head, __ATOMIC_RELEASE);
	return records;
}
