/* SPDX-License-Identifier: MIT */
/*
 * The heap of a process that forks often.
 */
#ifndef PERFABI_HEAP_H
#define PERFABI_HEAP_H

/*
 * Tidies it up once, and puts it into huge pages where the kernel does that (MADV_COLLAPSE, Linux
 * 6.1): a fork then copies a few entries of the page table and not thousands.
 */
void heap_settle(void);

#endif
