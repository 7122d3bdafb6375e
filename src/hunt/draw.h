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

/* A number in a call, and what it is changed to. */
struct aspect {
	struct call_part part;
	struct domain domain;
	bool toggles; /* the domain's values are bits, that are turned round */
	unsigned width;
};

struct drawer {
	const struct model *model;
	const struct stage *stage;
	uint64_t state; /* of the random numbers */
	struct aspect fields[FIELDS_MAX];
	size_t field_count;
	struct aspect size, pid, cpu, group_fd, flags;
	struct domain mapped;
};

/* Readies it for that stage; the same seed draws the same calls there. */
void drawer_begin(struct drawer *d, const struct model *model, const struct stage *stage,
		  uint64_t seed);

/* That of a field, by whatever name; NULL: it has none. */
struct aspect *drawer_field(struct drawer *d, const struct abi_field *field);

/* Draws a call into *call, whose image has room for an attr; *no_files: it is made without a
 * descriptor left. */
void drawer_draw(struct drawer *d, struct call *call, bool *no_files);

#endif
