/* SPDX-License-Identifier: MIT */
/*
 * The verbs, by what they are about; a list each, the last without a name.
 */
#ifndef PERFABI_VERBS_H
#define PERFABI_VERBS_H

#include "step/verb.h"

extern const struct verb event_verbs[], memory_verbs[], read_verbs[], signal_verbs[],
	process_verbs[], machine_verbs[], workload_verbs[];

/* The bits of mmap(2) and mprotect(2); memory.c. */
extern const struct word memory_prots[];

/* How many signals have been noted since the step that looked at them; signal.c. */
unsigned signals_noted(void);

/* Before an event counts: signals that come then touch nothing new. 0 or a negative errno. */
int signals_rehearse(void);

/* Finds what the workload "call" calls; workload.c. */
int run_function(struct step *s);

#endif
