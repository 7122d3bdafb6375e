/* SPDX-License-Identifier: MIT */
/*
 * All verbs, in the order in which the help has them.
 */
#include "step/verbs/verbs.h"
#include "step/vocabulary.h"

#include <stddef.h>

const struct verb *const verb_lists[] = {event_verbs,   memory_verbs,  read_verbs,     signal_verbs,
					 process_verbs, machine_verbs, workload_verbs, NULL};
