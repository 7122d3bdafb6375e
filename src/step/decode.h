/* SPDX-License-Identifier: MIT */
/*
 * Bytes that events have written as the JSON that patterns are held against, decoded strictly:
 * anything that is not accounted for to its last byte is an error.
 */
#ifndef PERFABI_STEP_DECODE_H
#define PERFABI_STEP_DECODE_H

#include "step/steps.h"

/* Records of these events: a list, a new reference; NULL with `e` filled. */
json_t *decode_records(const struct steps *s, const struct opened *const events[], size_t count,
		       const unsigned char *bytes, size_t size, struct error *e);

/* The mmap area as it is: {"page": ..., "records": [...]}. */
json_t *decode_ring(const struct steps *s, const struct opened *const events[], size_t count,
		    const struct map *map, struct error *e);

/* What read(2) gave, by the event's read_format: an object. */
json_t *decode_read(const struct steps *s, const struct opened *event, const unsigned char *bytes,
		    size_t size, struct error *e);

#endif
