/* SPDX-License-Identifier: MIT */
/*
 * What events have written -> JSON, by the decoder that people use, and strictly: anything that is
 * not accounted for to its last byte is an error.
 */
#ifndef PERFABI_STEP_DECODE_H
#define PERFABI_STEP_DECODE_H

#include "step/state.h"

/* What bytes are decoded by, and where it is said that they cannot be. */
struct decode_by {
	const struct abi *abi;
	const struct abi_arch *arch;        /* for the names of registers; may be NULL */
	const struct opened *const *events; /* whose records they are: their attrs and ids */
	size_t count;                       /* at least one */
	const struct where *where;
	struct error *error;
};

/* These events of a run. */
struct decode_by decode_by(const struct steps *run, const struct opened *const events[],
			   size_t count, struct error *e);

/* `size` bytes of records. A list, a new reference; NULL with `error` filled. */
json_t *decode_records(const struct decode_by *by, const unsigned char *bytes, size_t size);

/*
 * An image of the mmap area, whose first page is the metadata page: {"page": ..., "records":
 * [...]}, a new reference; NULL with `error` filled.
 */
json_t *decode_ring(const struct decode_by *by, const unsigned char *image, size_t size,
		    size_t page_size);

/*
 * What read(2) gave of the first event, by its read_format. An object, a new reference; NULL with
 * `error` filled.
 */
json_t *decode_read(const struct decode_by *by, const unsigned char *bytes, size_t size);

#endif
