/* SPDX-License-Identifier: MIT */
/*
 * An image of the mmap area: which ranges of it hold records, oldest first.
 */
#ifndef PERFABI_RING_H
#define PERFABI_RING_H

#include "abi/word.h"
#include "input/input.h"
#include "plan/plan.h"

struct ring {
	struct segment segments[SEGMENTS];
	bool lost_begin;  /* the oldest record was partly overwritten */
	bool lost_end;    /* of a backward buffer: the same at its end */
	uint64_t unread;  /* bytes of the image that are not of data pages */
	uint64_t page;    /* bytes of the metadata page, as long as its layout */
	struct plan plan; /* of the metadata page; free with plan_free() in any case */
};

enum { RING_PAGE_MIN = 4096 };

/* Whether the first bytes of an input of that size look like a metadata page: 1, 0 or -ENOMEM. */
int ring_detect(const struct abi *abi, const unsigned char *bytes, size_t n, uint64_t size,
		enum byte_order *order);

/*
 * Where the data pages of an area of `size` bytes are, by its metadata page, of which there are
 * RING_PAGE_MIN bytes. 0, or -EINVAL with `e` filled, which says in front of the size where it is.
 */
int ring_find_data(const struct plan *plan, const unsigned char *page, enum byte_order order,
		   uint64_t size, const char *where, struct segment *data, struct error *e);

/*
 * Reads the metadata page. `backward`: attr.write_backward is set. 0, or a negative errno with `e`
 * filled.
 */
int ring_open(struct ring *ring, const struct abi *abi, struct input *in, enum byte_order order,
	      bool backward, struct error *e);

#endif
