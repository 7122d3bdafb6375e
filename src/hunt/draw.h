/* SPDX-License-Identifier: MIT */
/*
 * Calls at random, out of cases/abi and the stage: one of the stage's calls, with some of its
 * fields and arguments changed to values that matter, to single bits, or to anything.
 */
#ifndef PERFABI_HUNT_DRAW_H
#define PERFABI_HUNT_DRAW_H

#include "model/model.h"
#include "stage/stage.h"

enum { DOMAIN_MAX = 192, FIELDS_MAX = 128 };

/* Values that matter. */
struct domain {
	uint64_t values[DOMAIN_MAX];
	size_t count;
};

struct drawer {
	const struct model *model;
	const struct stage *stage;
	uint64_t state; /* of the random numbers */
	const struct abi_field *fields[FIELDS_MAX];
	struct domain of_field[FIELDS_MAX];
	size_t field_count;
	struct domain pids, cpus, fds, flags, sizes, mapped;
};

/* Readies it for that stage; the same seed draws the same calls there. */
void drawer_begin(struct drawer *d, const struct model *model, const struct stage *stage,
		  uint64_t seed);

/* Whether the i-th of its fields is that one, by whatever name. */
bool drawer_is_field(const struct drawer *d, size_t i, const struct abi_field *field);

/* Draws a call into *call, whose image has room for an attr; *no_files: it is made without a
 * descriptor left. */
void drawer_draw(struct drawer *d, struct call *call, bool *no_files);

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
