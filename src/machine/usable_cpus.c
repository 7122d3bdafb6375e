/* SPDX-License-Identifier: MIT */
/*
 * What cannot be had of a mask the kernel leaves out: asking for all tells.
 */
#include "machine/usable_cpus.h"

#include <errno.h>
#include <string.h>

int usable_cpus(cpu_set_t *set, cpu_set_t *own, size_t size)
{
	if (sched_getaffinity(0, size, own))
		return -errno;
	memset(set, 0xff, size);
	if (sched_setaffinity(0, size, set) || sched_getaffinity(0, size, set))
		memcpy(set, own, size);
	sched_setaffinity(0, size, own);
	return 0;
}
