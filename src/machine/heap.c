/* SPDX-License-Identifier: MIT */
/*
 * Whatever fails here only makes forks slower.
 */
#include "machine/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#if !defined(MADV_COLLAPSE) /* Linux 6.1 */
#define MADV_COLLAPSE 25
#endif

enum { HUGE_PAGE = 2 << 20 };

/* What brk(2) has given, as /proc/self/maps has it. */
static int find_heap(uintptr_t *from, uintptr_t *to)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long first, end;
	char line[512];
	int err = -1;

	while (maps && err && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "[heap]") || sscanf(line, "%lx-%lx", &first, &end) != 2)
			continue;
		*from = first;
		*to = end;
		err = 0;
	}
	if (maps)
		fclose(maps);
	return err;
}

void heap_settle(void)
{
	const uintptr_t mask = HUGE_PAGE - 1;
	uintptr_t from, to;

#if defined(__GLIBC__)
	malloc_trim(0);
#endif
	if (find_heap(&from, &to))
		return;
	from = (from + mask) & ~mask;
	to &= ~mask;
	if (from < to)
		madvise((void *)from, to - from, MADV_COLLAPSE);
}
