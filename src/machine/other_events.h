/* SPDX-License-Identifier: MIT */
/*
 * Other users of perf on this machine.
 */
#ifndef PERFABI_OTHER_EVENTS_H
#define PERFABI_OTHER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whether the processes that can be seen are all there are, and with these effective capabilities
 * their files too.
 */
bool other_events_seen(uint64_t capabilities);

/*
 * Whether a process other than the runner and those that descend from it, as far as they can be
 * seen in /proc, has an event open or mapped; `who` is the first: "perf, process 1234".
 */
bool other_events(pid_t runner, char *who, size_t size);

#endif
