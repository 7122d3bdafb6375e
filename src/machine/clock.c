/* SPDX-License-Identifier: MIT */
#include "machine/clock.h"

#include <time.h>

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double clock_seconds(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

double clock_processor_seconds(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}
