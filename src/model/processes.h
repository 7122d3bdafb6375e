/* SPDX-License-Identifier: MIT */
/*
 * The process that a call is about, as /proc shows it.
 */
#ifndef PERFABI_MODEL_PROCESSES_H
#define PERFABI_MODEL_PROCESSES_H

#include "model/world.h"

/*
 * What the world has of the task of that id: from its list, or from /proc where it sees processes.
 * False: it is not known. An id below 0 is nobody's.
 */
bool world_task(const struct world *world, const struct caller *caller, int32_t id,
		struct world_task *out);

#endif
