/* SPDX-License-Identifier: MIT */
/*
 * A ring that the kernel is writing, read record by record: perf_event_open(2), "MMAP layout".
 */
#ifndef PERFABI_LIVE_RING_H
#define PERFABI_LIVE_RING_H

#include "abi/abi.h"

struct live_ring {
	unsigned char *head, *tail; /* the two counters in the metadata page */
	const unsigned char *data;
	uint64_t size;       /* bytes of data, 2^n */
	uint64_t position;   /* counter of the next record */
	uint64_t passed;     /* what data_tail is to be: behind all that is done with */
	unsigned char *copy; /* of a record that goes around the end */
};

/*
 * `area` has `size` bytes, a metadata page and 2^n data pages, and must outlive it. 0, -ENOMEM, or
 * -EINVAL with `e` filled. Free with live_ring_free().
 */
int live_ring_open(struct live_ring *ring, const struct abi *abi, void *area, size_t size,
		   struct error *e);

/*
 * The next record that is whole, and its place in the data; what it gave before is done with then.
 * 1, 0 if there is none now, or -EBADMSG: what should be its header cannot be one.
 */
int live_ring_next(struct live_ring *ring, const unsigned char **bytes, uint64_t *offset);

/* Tells the kernel that what was given so far is done with. */
void live_ring_pass(struct live_ring *ring);
void live_ring_free(struct live_ring *ring);

#endif
