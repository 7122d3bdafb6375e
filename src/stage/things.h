/* SPDX-License-Identifier: MIT */
/*
 * What stands on a stage, and the calls that are made there.
 */
#ifndef PERFABI_STAGE_THINGS_H
#define PERFABI_STAGE_THINGS_H

#include "model/model.h"
#include "step/step.h"

enum { STAGE_THINGS = 64, STAGE_CALLS = 64 };

/* What a name of the stage stands for. */
struct thing {
	const char *name;
	enum role { A_TASK, AN_EVENT, A_FILE, A_TEXT, SOME_MEMORY } role;
	uint64_t value;
};

/* A call that others are made of. */
struct seed {
	struct call call;
	unsigned rare; /* it is drawn once in so many; 1: as often as others */
};

/* The file, compiled: the same for all who hunt. */
struct plan_of_stage {
	json_t *json;
	struct block block;
	const json_t *calls;
	struct arena arena;
};

/* The stage as one process has set it, or as it would be on another machine. */
struct stage {
	const struct plan_of_stage *plan;
	const struct model *model;
	struct steps *steps; /* NULL: nothing of it is there */
	struct scope *scope; /* what the names stand for */
	struct scope imagined;
	bool no_files;      /* no descriptor is left for another */
	size_t failed_step; /* the first of `given` that failed, from 1; 0: none */
	char failure[512];
	struct thing things[STAGE_THINGS];
	size_t thing_count;
	struct seed seeds[STAGE_CALLS];
	size_t seed_count;
	struct world world;
	struct world_task tasks[STAGE_THINGS];
	struct world_event events[STAGE_THINGS];
	struct world_file files[STAGE_THINGS];
	struct world_text texts[STAGE_THINGS];
};

#endif
