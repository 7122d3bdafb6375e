/* SPDX-License-Identifier: MIT */
/*
 * The time that deadlines and durations go by.
 */
#ifndef PERFABI_CLOCK_H
#define PERFABI_CLOCK_H

/* CLOCK_MONOTONIC in seconds. */
double clock_seconds(void);

/* The processor time of this process, in seconds. */
double clock_processor_seconds(void);

#endif
