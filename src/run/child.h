/* SPDX-License-Identifier: MIT */
/*
 * One instance in a process of its own: what it is given, the call, the gate, the verdict.
 */
#ifndef PERFABI_CHILD_H
#define PERFABI_CHILD_H

#include <signal.h>

#include "case/case.h"

/* How far the child has come, for when it does not come back. */
enum case_stage { STAGE_NONE, STAGE_PREPARING, STAGE_STEPPING, STAGE_DONE };
extern const char *const stage_names[];

/*
 * What the child tells, in memory shared with the runner and with no other case: no pipe that
 * something left over could hold. Texts are NUL-terminated unless the child was killed while it
 * wrote; the last byte is never written.
 */
struct slot {
	pid_t runner;
	uid_t uid; /* of an ordinary user, this case's own */
	volatile int stage;
	volatile unsigned step; /* from 1, of those under test */
	struct verdict verdict;
};

/* What is the same for all children of a run. */
struct surroundings {
	int devnull;         /* becomes their stdio */
	unsigned seconds;    /* of cpu time that they may use */
	struct trace *trace; /* that they tell their calls to, or NULL */
	sigset_t altered;    /* signals whose disposition here is not SIG_DFL, as theirs is to be */
};

/* The signals whose disposition in this process is not SIG_DFL: a shell may ignore some. */
sigset_t signals_altered(void);

/*
 * Runs the instance in the calling process, which was forked for it, with that part of what it
 * expects made wrong, from 1, and ends the process. `cgroup` is the path of the case's own, or
 * NULL.
 */
_Noreturn void child_run(const struct instance *instance, unsigned wrong_part,
			 const struct cases *cases, struct environment *env, struct slot *slot,
			 const struct surroundings *surroundings, const char *cgroup);

#endif
