/* SPDX-License-Identifier: MIT */
/*
 * Many calls, predicted and made, by processes that have become the callers.
 */
#ifndef PERFABI_HUNT_H
#define PERFABI_HUNT_H

#include "setup/setup.h"

enum {
	HUNT_CHECKS = 256,
	HUNT_TERMS = 4096,
	DIFFERENCES = 24,
	DIFFERENCE_TEXT = 6144,
	HUNT_JOBS = 64
};

struct hunt_options {
	uint64_t calls; /* in all; 0: as many as there is time for */
	double seconds; /* 0: as long as it takes */
	uint64_t seed;
	unsigned jobs;
	bool boundaries;     /* calls at the boundaries of the checks, each once, and no others */
	bool mutates;        /* each term is turned round, and these calls must notice */
	bool as[IDENTITIES]; /* who calls, one after the other */
};

enum hunt_count {
	COUNT_CALLS,
	COUNT_REFUSED,
	COUNT_OPENED,
	COUNT_UNKNOWN,
	COUNT_DIFFER,
	COUNT_UNSTEADY, /* that differed once, and not again */
	COUNT_MOVED,    /* that differed since the machine's settings had been changed */
	COUNT_HELD,     /* that were refused as where another program has what they need */
	COUNT_SOUGHT,   /* boundaries */
	COUNT_FOUND,
	COUNTS
};
extern const char *const hunt_count_names[];

/* What one process counts, in memory that it shares with the one that began it; or the sum of
 * several. */
struct tally {
	double seconds; /* of a sum */
	uint64_t counts[COUNTS], by_check[HUNT_CHECKS], unknown_by_check[HUNT_CHECKS];
	/* Each kind of difference once, as a case's JSON. */
	char differences[DIFFERENCES][DIFFERENCE_TEXT];
	unsigned difference_count;
	unsigned char met[HUNT_CHECKS];    /* checks that a call at a boundary has met */
	unsigned char noticed[HUNT_TERMS]; /* terms that were noticed when they were turned round */
	char failure[160];                 /* why it could not begin, or "" */
	bool is_done;                      /* a worker's; else it was ended */
	int interrupted;                   /* of a sum: the signal that has ended it early, or 0 */
};

/* What all of them share. */
struct hunt {
	struct model *model;
	const struct tables *tables;
	const struct setup_plan *plan;
	const struct hunt_options *options;
};

/* Calls `each` with every term of every check, and its number. */
void hunt_terms(const struct model *model,
		void (*each)(void *context, size_t number, const struct check *check,
			     struct term *term),
		void *context);

/* Hunts as one caller, and adds to *sum. 0, or a negative errno. */
int hunt_as(const struct hunt *hunt, enum identity as, struct tally *sum);

#endif
