/* SPDX-License-Identifier: MIT */
/*
 * Workloads: what cases have counted and recorded. One that is `counted` switches an event on right
 * before it and off right behind it, so that the count is the workload's alone.
 */
#ifndef PERFABI_WORKLOAD_H
#define PERFABI_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

/* What "call" calls, and what a uprobe is put on. */
void workload_probed(void);

/* The file that function is in, and its offset there. 0 or a negative errno. */
int workload_probed_place(char *path, size_t size, uint64_t *offset);

#endif
