/* SPDX-License-Identifier: MIT */
/*
 * For each check, calls that just meet its predicate and calls that miss it by one term alone:
 * sought among changes of the stage's calls, always in the same order.
 */
#ifndef PERFABI_HUNT_BOUNDARIES_H
#define PERFABI_HUNT_BOUNDARIES_H

#include "hunt/difference.h"
#include "hunt/draw.h"

/* A call at a boundary. */
struct boundary {
	const struct check *check;
	size_t way;          /* of its predicate */
	int missed;          /* the index of the term that it misses by; NONE_MISSED */
	struct trial *trial; /* not made yet */
};

/* How many were sought, and how many there are on this machine for this caller. */
struct boundary_counts {
	uint64_t sought, found;
	uint64_t calls; /* at those found */
};

/*
 * Calls `each` with every boundary that is found; of a check that none meets, nothing. 0 or
 * -ENOMEM.
 */
int boundaries_find(struct hunter *h, struct drawer *d, struct boundary_counts *counts,
		    void (*each)(void *context, const struct boundary *boundary), void *context);

#endif
