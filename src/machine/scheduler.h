/* SPDX-License-Identifier: MIT */
/*
 * How the calling thread is scheduled; sched(7).
 */
#ifndef PERFABI_SCHEDULER_H
#define PERFABI_SCHEDULER_H

/* Its policy, SCHED_OTHER or another, and *priority (0 to 99); -1 with errno. */
int scheduler_get(int *priority);

/* 0, or -1 with errno. */
int scheduler_set(int policy, int priority);

#endif
