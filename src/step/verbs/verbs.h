/* SPDX-License-Identifier: MIT */
/*
 * The verbs, by what they are about; a list each, the last without a name.
 */
#ifndef PERFABI_VERBS_H
#define PERFABI_VERBS_H

#include "step/verb.h"

extern const struct verb event_verbs[], memory_verbs[], read_verbs[], records_verbs[],
	signal_verbs[], process_verbs[], machine_verbs[], pmu_verbs[], workload_verbs[];

/* The bits of mmap(2) and mprotect(2); memory.c. */
extern const struct word memory_prots[];

#endif
