/* SPDX-License-Identifier: MIT */
/*
 * Running instances: what is skipped, a process for each of the others, deadlines, and nothing left
 * behind.
 */
#ifndef PERFABI_RUN_H
#define PERFABI_RUN_H

#include "run/runner.h"

/* How a run ended. What it has not reached are errors that say so. */
struct run_end {
	int signal;       /* that ended it early (SIGINT, SIGTERM, SIGHUP), or 0 */
	bool gave_up;     /* another perfabi was in the way for options->wait */
	bool is_restored; /* the machine is as it was; if not, that has been said */
};

/*
 * Runs `count` instances into results[] (of results_new()), in their order. 0, or a negative errno:
 * the runner could not be set up, and nothing has run.
 */
int run_all(const struct instance *const *instances, size_t count, const struct cases *cases,
	    struct environment *env, const struct run_options *options, struct result *results,
	    struct run_end *end);

#endif
