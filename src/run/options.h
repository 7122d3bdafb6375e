/* SPDX-License-Identifier: MIT */
/*
 * What a run is asked for, and who is told of what.
 */
#ifndef PERFABI_RUN_OPTIONS_H
#define PERFABI_RUN_OPTIONS_H

#include "run/result.h"

struct run_options {
	unsigned jobs;   /* processes at a time, at least 1 */
	double timeout;  /* seconds a case may take */
	double wait;     /* seconds to wait for another perfabi; negative: without end */
	unsigned repeat; /* rounds, at least 1 */
	bool shuffle;
	uint64_t seed;
	/* The part of each instance that is made wrong, from 1, in their order; NULL: none is. */
	const unsigned *parts;
	struct trace *trace; /* that cases tell their calls to; NULL: nobody asks */
	/* Called when other runs are kept away, as far as they can be, and what `env` says of the
	 * sysctls is the machine's own; before that no case is judged. May be NULL. */
	void (*begun)(void *context);
	/* Called before an instance's process is there, the first time; not for one that is
	 * skipped. May be NULL. */
	void (*started)(void *context, const struct instance *instance);
	/* Called as each instance ends, in the order in which they end; may be NULL. False: enough,
	 * no other one begins; those under way come to their end. */
	bool (*ended)(void *context, const struct result *result, size_t done, size_t total);
	void *context;
};

#endif
