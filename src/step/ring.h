/* SPDX-License-Identifier: MIT */
/*
 * What events have written -> JSON, by the decoder that people use, and strictly: anything that is
 * not accounted for to its last byte is an error. A ring buffer is drained: data_head is read
 * before the data it covers and data_tail written after it was copied, as the kernel's
 * ring_buffer.c asks for.
 */
#ifndef PERFABI_RING_H
#define PERFABI_RING_H

#include "step/step.h"

/*
 * What an event's buffer holds (map->event is one), decoded strictly: a new list, or NULL with `e`
 * filled. `keep` leaves it unread; what the kernel overwrites always is.
 */
json_t *buffer_records(struct steps *run, struct map *map, bool keep, struct error *e);

/*
 * The whole mapping as it is, decoded: {"page": ..., "records": [...]}, a new reference; NULL with
 * `e` filled.
 */
json_t *buffer_image(const struct steps *run, const struct opened *const events[], size_t count,
		     const struct map *map, struct error *e);

/* data_head of that buffer. */
const uint64_t *buffer_head(const struct steps *run, const struct map *map);

/*
 * What read(2) gave of the event, by its read_format. An object, a new reference; NULL with `e`
 * filled.
 */
json_t *buffer_of_read(const struct steps *run, const struct opened *event,
		       const unsigned char *bytes, size_t size, struct error *e);

#endif
