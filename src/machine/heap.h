/* SPDX-License-Identifier: MIT */
/*
 * The heap of a process that loads all cases, and forks for each.
 */
#ifndef PERFABI_HEAP_H
#define PERFABI_HEAP_H

/*
 * Asks for room in huge pages (MADV_HUGEPAGE), before it is used: it then costs a few page faults
 * and not thousands, and a fork copies a few entries of the page table. Where the kernel has no
 * huge pages, or gives them to all, and outside glibc, this changes nothing.
 */
void heap_prepare(void);

#endif
