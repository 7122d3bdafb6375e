/* SPDX-License-Identifier: MIT */
/*
 * Calls at random, out of cases/abi and the stage: one of the stage's calls, with some of its
 * fields and arguments changed to values that matter, to single bits, or to anything.
 */
#ifndef PERFABI_HUNT_DRAW_H
#define PERFABI_HUNT_DRAW_H

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

/* A number that is as good as random (splitmix64). */
uint64_t drawer_number(struct drawer *d);

/* Whether the i-th of its fields is that one, by whatever name. */
bool drawer_is_field(const struct drawer *d, size_t i, const struct abi_field *field);

/* Draws a call into *call, whose image has room for an attr; *no_files: it is made without a
 * descriptor left. */
void drawer_draw(struct drawer *d, struct call *call, bool *no_files);

#endif
