/* SPDX-License-Identifier: MIT */
/*
 * A ring buffer that events write to, drained. data_head is read before the data it covers and
 * data_tail written after it was copied, as the kernel's ring_buffer.c asks for.
 */
#ifndef PERFABI_BUFFER_H
#define PERFABI_BUFFER_H

#include "step/decode.h"

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

#endif
