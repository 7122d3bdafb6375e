/* SPDX-License-Identifier: MIT */
/*
 * Lists of cpus as the kernel writes them: "0-3,8,10-11" (cpuset(7), List format).
 */
#ifndef PERFABI_CPU_LIST_H
#define PERFABI_CPU_LIST_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* What stands for a list that did not fit where it was to be kept. */
#define CPU_LIST_CUT "?"

/* Makes CPU_LIST_CUT of a list that has all of the `size` bytes, for the rest of it is not there.
 */
void cpu_list_settle(char *list, size_t size);

/* Whether it is a list, and whole. */
bool cpu_list_is_known(const char *list);

/* Whether a list has that cpu. What is no list has none. */
bool cpu_list_has(const char *list, unsigned cpu);

/* The first number above all of its cpus; 0: it has none. */
unsigned cpu_list_end(const char *list);

/*
 * Writes to `set`, of `size` bytes, all cpus of the caller's cpuset: a mask that is narrower can be
 * widened so far by whoever has it (sched_setaffinity(2)), and the caller's is as it was
 * afterwards. To `own`, of the same size, which it is. 0, or a negative errno: -EINVAL where the
 * kernel knows more cpus than so many bytes have.
 */
int usable_cpus(cpu_set_t *set, cpu_set_t *own, size_t size);

#endif
