/* SPDX-License-Identifier: MIT */
/*
 * Events as perf(1) writes them (perf-list(1)): "cycles:upp", "cpu/event=0x3c,umask=1/u",
 * "sched:sched_switch", "r01c2", "L1-dcache-load-misses", "mem:0x1000/8:rw".
 */
#ifndef PERFABI_WHY_EVENT_NAME_H
#define PERFABI_WHY_EVENT_NAME_H

#include "machine/environment.h"
#include "text/source.h"

/*
 * The attr of that event on this machine, by sysfs and tracefs: a new reference to the fields that
 * a case's `attr` has. `names` is cases/events.json. NULL with `e` filled: what of the text is no
 * event here, and what would be.
 */
json_t *event_attr(const char *text, const json_t *names, struct environment *env, struct error *e);

#endif
