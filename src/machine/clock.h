/* SPDX-License-Identifier: MIT */
/*
 * The time that deadlines and durations go by.
 */
#ifndef PERFABI_CLOCK_H
#define PERFABI_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* CLOCK_MONOTONIC in seconds. */
double clock_seconds(void);

/* The processor time of this process, in seconds. */
double clock_processor_seconds(void);

/*
 * What the time namespace of this process's children, as a rule its own, adds to a clock of
 * clock_gettime(2), in nanoseconds; the kernel's own times go without. 0 where there is no such
 * namespace; time_namespaces(7).
 */
long long clock_namespace_offset(clockid_t clock);

/* 64 bits; where the kernel has no randomness yet, made of the time and the pid. */
uint64_t draw(void);

/* The next number. *state is the seed at first, and any number will do. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

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
