/* SPDX-License-Identifier: MIT */
/*
 * What the calls at the boundaries of a predicate are to be: of each way in which it can hold, that
 * it holds, and that it misses by one term alone.
 */
#ifndef PERFABI_HUNT_GOALS_H
#define PERFABI_HUNT_GOALS_H

#include "model/model.h"

enum { LITERALS_MAX = 24, WAYS_MAX = 96, NONE_MISSED = -1 };

/* A term, and whether it is to hold. */
struct literal {
	const struct term *term;
	bool holds;
};

/* One way in which a predicate can hold: all of these. */
struct way {
	struct literal list[LITERALS_MAX];
	size_t count;
};

struct ways {
	struct way list[WAYS_MAX];
	size_t count;
	bool is_cut; /* there are more */
};

/* All ways of a predicate, those of tokens left out that this machine does not meet. */
void ways_of(const struct predicate *predicate, struct ways *ways);

#endif
