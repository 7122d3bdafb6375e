/* SPDX-License-Identifier: MIT */
/*
 * close_range(2) where the kernel has it (5.9), or one after the other.
 */
#include "descriptors.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MANY = 1 << 20 };

static void close_range_of(int first, int last)
{
	struct rlimit limit;
	int end = MANY;

	if (first > last)
		return;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0U))
		return;
#endif
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_max < MANY)
		end = (int)limit.rlim_max;
	for (int fd = first; fd <= last && fd < end; fd++)
		close(fd);
}

void descriptors_close_from(int first, int kept, int kept_too)
{
	const int last = 0x7fffffff;
	int low = kept < kept_too ? kept : kept_too, high = kept < kept_too ? kept_too : kept;

	if (low >= first) {
		close_range_of(first, low - 1);
		first = low + 1;
	}
	if (high >= first) {
		close_range_of(first, high - 1);
		first = high + 1;
	}
	close_range_of(first, last);
}

void descriptors_null(int devnull)
{
	dup2(devnull, 0);
	dup2(devnull, 1);
#if !defined(SANITIZED)
	dup2(devnull, 2);
#endif
}
