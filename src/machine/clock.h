/* SPDX-License-Identifier: MIT */
/*
 * The time that deadlines and durations go by.
 */
#ifndef PERFABI_CLOCK_H
#define PERFABI_CLOCK_H

/* CLOCK_MONOTONIC in seconds. */
double clock_seconds(void);

#endif
