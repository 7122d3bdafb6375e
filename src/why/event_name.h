/* SPDX-License-Identifier: MIT */
/*
 * Events as perf(1) writes them (perf-list(1)): "cycles:upp", "cpu/event=0x3c,umask=1/u",
 * "sched:sched_switch", "r01c2", "L1-dcache-load-misses", "mem:0x1000/8:rw".
 */
#ifndef PERFABI_WHY_EVENT_NAME_H
#define PERFABI_WHY_EVENT_NAME_H

#include "machine/environment.h"
#include "text/source.h"

/* What a name asks for that the machine does not have. */
enum absent {
	ABSENT_NOTHING,
	ABSENT_PMU,        /* of that name, in sysfs */
	ABSENT_TRACEPOINT, /* of that name, in tracefs */
	ABSENT_TRACEFS,    /* that the caller can read */
	ABSENT_EVENT,      /* of the PMU, in sysfs */
	ABSENT_CALL        /* of perf_event_open(2): perf counts it by itself */
};

struct absence {
	enum absent what;
	char name[512];     /* "cpu", "sched:sched_swich" */
	char modifiers[32]; /* behind the event, or empty */
};

/*
 * The attr of that event on this machine, by sysfs and tracefs: a new reference to the fields that
 * a case's `attr` has. `names` is cases/events.json. NULL with `e` filled: what of the text is no
 * event here, and what would be; and *absence, where that is
 * because of the machine; NULL: nobody asks.
 */
json_t *event_attr(const char *text, const json_t *names, struct environment *env,
		   struct absence *absence, struct error *e);

#endif
