/* SPDX-License-Identifier: MIT */
/*
 * What is new in a buffer, copied and given back; of one that cannot be written, all that is there.
 */
#include "step/buffer.h"

#include <stdlib.h>
#include <string.h>

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
