/* SPDX-License-Identifier: MIT */
#include "machine/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "machine/proc.h"

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

long long clock_namespace_offset(clockid_t clock)
{
	bool is_monotonic = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW;
	long long seconds, nanoseconds;
	char text[256];
	const char *line;

	if ((!is_monotonic && clock != CLOCK_BOOTTIME) ||
	    read_small("/proc/self/timens_offsets", text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, is_monotonic ? "monotonic" : "boottime");
	if (!line || sscanf(line, "%*s %lld %lld", &seconds, &nanoseconds) != 2)
		return 0;
	return seconds * 1000000000 + nanoseconds;
}
