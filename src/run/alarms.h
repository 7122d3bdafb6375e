/* SPDX-License-Identifier: MIT */
/*
 * Alarms of the kernel during a run, and the instances that ran meanwhile.
 */
#ifndef PERFABI_ALARMS_H
#define PERFABI_ALARMS_H

#include "machine/alarm.h"
#include "run/result.h"

enum { ALARMS_MOST = 64 };

struct raised {
	struct alarm alarm;
	struct beside during; /* those that had a process since the last look */
};

struct alarms {
	struct alarm_watch watch;
	struct raised list[ALARMS_MOST];
	size_t count, more; /* more: how many are not in the list */
	/* Called with each that is in the list; may be NULL. */
	void (*raised)(void *context, const struct raised *raised);
	void *context;
};

/* Takes what the kernel has raised since the last look; `during` may be NULL. */
void alarms_look(struct alarms *alarms, const struct beside *during);

#endif
