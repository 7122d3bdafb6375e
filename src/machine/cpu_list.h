/* SPDX-License-Identifier: MIT */
/*
 * Lists of cpus as the kernel writes them: "0-3,8,10-11" (cpuset(7), List format).
 */
#ifndef PERFABI_CPU_LIST_H
#define PERFABI_CPU_LIST_H

#include <stdbool.h>

/* Whether a list has that cpu. What is no list has none. */
bool cpu_list_has(const char *list, unsigned cpu);

/* The first number above all of its cpus; 0: it has none. */
unsigned cpu_list_end(const char *list);

#endif
