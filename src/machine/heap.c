/* SPDX-License-Identifier: MIT */
/*
 * Whatever fails here only makes perfabi slower.
 */
#include "machine/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * ROOM is a little more than all cases take, 27 MB: where memory is not overcommitted, each fork is
 * charged for it. Two BLOCKs, for the first may lie in what there is; PAD is malloc()'s own
 * default.
 */
enum { HUGE_PAGE = 2 << 20, ROOM = 32 << 20, BLOCK = 100000, PAD = 128 << 10 };

void heap_prepare(void)
{
#if defined(__GLIBC__)
	const uintptr_t mask = HUGE_PAGE - 1, from = ((uintptr_t)sbrk(0) + mask) & ~mask;
	void *volatile first, *volatile second; /* volatile, or the compiler leaves both out */
	uintptr_t to;

	mallopt(M_TRIM_THRESHOLD, 2 * ROOM);
	mallopt(M_TOP_PAD, ROOM);
	first = malloc(BLOCK);
	second = malloc(BLOCK);
	free(first);
	free(second);
	mallopt(M_TOP_PAD, PAD);
	to = (uintptr_t)sbrk(0) & ~mask;
	if (from < to)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
#endif
}
