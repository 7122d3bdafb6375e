/* SPDX-License-Identifier: MIT */
/*
 * How long one waits for other processes, by the time that they were given: a busy machine, a quota
 * and a slow processor change no verdict. Time counts as it does on the wall while all of them
 * sleep, and as processor time while one of them wants a cpu.
 */
#ifndef PERFABI_PATIENCE_H
#define PERFABI_PATIENCE_H

#include <stdbool.h>
#include <sys/types.h>

struct patience {
	double left;      /* seconds that they may still have */
	double seen;      /* clock_seconds() when they were last looked at */
	double look;      /* and when they are to be looked at next */
	double tick;      /* seconds between two looks */
	double ran;       /* processor seconds that they had had then */
	bool was_seen;    /* /proc showed them then; where it never does, all time counts */
	bool was_stopped; /* one of them, once (SIGSTOP, a tracer): nobody can say what it had */
};

/* Begins now; they may have `seconds`. */
struct patience patience_begin(double seconds);

/*
 * Whether the processes of `session` (setsid(2); its leader's id) have had their time. To be called
 * when p->look is there: time in which the caller itself did not run does not count.
 * proc_pid_stat(5).
 */
bool patience_is_over(struct patience *p, pid_t session);

/*
 * Waits for a child that leads a session until it ends, or has had its seconds, or `is_to_end`
 * (which may be NULL) says so; then kills what is left of the session. Writes its status as
 * waitpid(2) does. False if it was killed because its time was up.
 */
bool patience_await(pid_t child, double seconds, bool (*is_to_end)(void), int *status);

#endif
