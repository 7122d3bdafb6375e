/* SPDX-License-Identifier: MIT */
/*
 * What came of an instance: its verdict, or why there is none.
 */
#ifndef PERFABI_RESULT_H
#define PERFABI_RESULT_H

#include "case/case.h"

struct deviation;

enum { BESIDE_MOST = 16 };

/* The instances that had a process while this one had; of many the last that began. */
struct beside {
	size_t count;
	const struct instance *last[BESIDE_MOST]; /* a ring: the n-th is at n % BESIDE_MOST */
};

struct result {
	const struct instance *instance;
	struct verdict verdict;
	char *token;  /* of a skip: the requirement that is not met; owned */
	char *reason; /* of a skip, an xfail, an xpass or an error; owned */
	const struct deviation
		*deviation; /* the baseline's entry, also of a pass of what fails at times */
	double seconds;
	struct beside beside; /* of one that ran */
	int first;            /* outcome of the first run, which the others are held against */
	unsigned first_phases;
	unsigned tried, failed; /* of a case that failed: how often it ran, and failed */
	unsigned lacks;      /* of a skip: how many of its requirements are not known to be met */
	bool passes_without; /* of a skip that was tried: it passes without that requirement */
	bool has_failed;     /* in one of its rounds */
	bool disturbed;      /* others changed the machine meanwhile: this run says nothing */
	unsigned runs, differed; /* with --repeat: how many runs did not agree with the first */
};

/* Whether the run has come to it; what ran while others changed the machine has runs 0. */
bool result_has_run(const struct result *result);

/* Replaces an owned text; an empty one is none. */
void result_set_text(char **to, const char *text);

/* Adds one that began meanwhile. */
void beside_add(struct beside *beside, const struct instance *instance);

/* The i-th of those that are known, in the order in which they began; NULL behind the last. */
const struct instance *beside_at(const struct beside *beside, size_t i);

/*
 * A number that is the same for results with the same cause, as far as what came says: the same
 * errno from the same gate; or the same of the same function of the kernel but for numbers.
 */
uint64_t result_cause(const struct result *result);

/* Not run, or not held against the kernel: a token that is not met, and what was found of it. */
void result_skip(struct result *result, const char *token, const char *reason);

/* Not run, for a reason that is the harness's or the case's. */
void result_error(struct result *result, const char *reason);

/* Whatever came is of another machine than the case was made for: an error that says why. */
void result_void(struct result *result, const char *reason);

/*
 * Adds what another round gave, and empties it. The first round's result is kept; of later ones the
 * first that differs takes its place, so that the report shows what went wrong. Rounds in which
 * somebody was in the way are held against nothing.
 */
void result_add_round(struct result *kept, struct result *fresh);

/* Frees what it owns; nothing has come of it then. */
void result_clear(struct result *result);

/* So many of which nothing has come, in memory that a fork does not copy; NULL with errno. */
struct result *results_new(size_t count);
void results_free(struct result *results, size_t count);

#endif
