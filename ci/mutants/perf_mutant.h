/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which mutant is on. ci/cells/mutants.py puts them into the kernel's files; perf_mutant.c is at
 * the end of one of these.
 */
#ifndef _LINUX_PERF_MUTANT_H
#define _LINUX_PERF_MUTANT_H
#include <linux/compiler.h>
#include <linux/types.h>

extern unsigned int perf_mutant;
extern u8 perf_mutant_reached[];

/* Whether the mutant with this number is on; that it was reached is noted. */
static __always_inline bool M(unsigned int n)
{
	if (!READ_ONCE(perf_mutant_reached[n]))
		WRITE_ONCE(perf_mutant_reached[n], 1);
	return unlikely(READ_ONCE(perf_mutant) == n);
}

#endif
