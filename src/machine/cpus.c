/* SPDX-License-Identifier: MIT */
/*
 * Reading the kernel's lists of cpus.
 */
#include "machine/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cpu_list_settle(char *list, size_t size)
{
	if (strlen(list) + 1 == size)
		memcpy(list, CPU_LIST_CUT, sizeof(CPU_LIST_CUT));
}

bool cpu_list_is_known(const char *list)
{
	return isdigit((unsigned char)list[0]);
}

/* Reads "3" or "0-3", moves *list behind it and its comma; false at the end. */
static bool next_range(const char **list, unsigned long *first, unsigned long *last)
{
	char *end;

	if (!isdigit((unsigned char)**list))
		return false;
	*first = *last = strtoul(*list, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*last = strtoul(end + 1, &end, 10);
	*list = *end == ',' ? end + 1 : end;
	return true;
}

bool cpu_list_has(const char *list, unsigned cpu)
{
	unsigned long first, last;

	while (next_range(&list, &first, &last))
		if (cpu >= first && cpu <= last)
			return true;
	return false;
}

unsigned cpu_list_end(const char *list)
{
	unsigned long first, last, end = 0;

	while (next_range(&list, &first, &last))
		end = last + 1 > end ? last + 1 : end;
	return end < 1U << 20 ? (unsigned)end : 0;
}

/*
 * What cannot be had of a mask the kernel leaves out: asking for all tells.
 */

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
