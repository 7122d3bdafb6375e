/* SPDX-License-Identifier: MIT */
/*
 * For each check, calls that just meet its predicate and calls that miss it by one term alone:
 * sought among changes of the setup's calls, always in the same order.
 */
#ifndef PERFABI_HUNT_BOUNDARIES_H
#define PERFABI_HUNT_BOUNDARIES_H

#include "model/model.h"
#include "setup/setup.h"

/*
 * draw.c: calls at random, out of cases/abi and the setup: one of the setup's calls, with some of
 * its fields and arguments changed to values that matter, to single bits, or to anything.
 */

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
	const struct setup *setup;
	uint64_t state; /* of the random numbers */
	struct aspect fields[FIELDS_MAX];
	size_t field_count;
	struct aspect size, pid, cpu, group_fd, flags;
	struct domain mapped;
};

/* Readies it for that setup; the same seed draws the same calls there. */
void drawer_begin(struct drawer *d, const struct model *model, const struct setup *setup,
		  uint64_t seed);

/* That of a field, by whatever name; NULL: it has none. */
struct aspect *drawer_field(struct drawer *d, const struct abi_field *field);

/* Draws a call into *call, whose image has room for an attr; *no_files: it is made without a
 * descriptor left. */
void drawer_draw(struct drawer *d, struct call *call, bool *no_files);

/* A call, what was predicted of it, and what came. */
struct trial {
	struct call call; /* its image is somebody else's */
	bool no_files;
	struct prediction prediction;
	struct answer result;
	/* The gates that can have refused it, as witnesses tell, who are asked where it is not 0.
	 */
	unsigned gates;
};

/* What the model says of the trial's call. */
struct prediction trial_predict(struct judge *h, const struct trial *t);

/*
 * Calls `each` with a call at every boundary that is found, not made yet, and the check that it
 * just meets, or misses; of a check that none meets, with nothing. Counts those sought and those
 * that there are on this machine for this caller.
 */
void boundaries_find(struct judge *h, struct drawer *d, uint64_t *sought, uint64_t *found,
		     void (*each)(void *context, const struct check *check, bool is_met,
				  struct trial *trial),
		     void *context);

#endif
