/* SPDX-License-Identifier: MIT */
/*
 * The time that deadlines and durations go by.
 */
#ifndef PERFABI_CLOCK_H
#define PERFABI_CLOCK_H

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

#endif
