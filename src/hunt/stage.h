/* SPDX-License-Identifier: MIT */
/*
 * cases/stage.json: the processes, events, files and texts among which calls are drawn and made,
 * and the calls that others are made of.
 */
#ifndef PERFABI_HUNT_STAGE_H
#define PERFABI_HUNT_STAGE_H

#include "model/model.h"
#include "step/state.h"

enum { STAGE_THINGS = 64, STAGE_CALLS = 64 };

/* What a name of the stage stands for. */
struct thing {
	const char *name;
	enum role { A_TASK, AN_EVENT, A_FILE, A_TEXT, SOME_MEMORY } role;
	uint64_t value;
	const json_t *json; /* the step that made it */
};

/* A call that others are made of. */
struct seed {
	const char *name;
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

/* The stage as one process has set it. */
struct stage {
	const struct plan_of_stage *plan;
	struct steps *steps;
	struct thing things[STAGE_THINGS];
	size_t thing_count;
	struct seed seeds[STAGE_CALLS];
	size_t seed_count;
	struct world world;
	struct world_task tasks[STAGE_THINGS];
	struct world_event events[STAGE_THINGS];
	struct world_file files[STAGE_THINGS];
};

/* 0 or -EINVAL with `e` filled. Free with stage_free_plan(). */
int stage_load(struct plan_of_stage *plan, const struct source *source, const struct tables *tables,
	       struct error *e);
void stage_free_plan(struct plan_of_stage *plan);

/*
 * Looks up the tracepoints that the calls name, which takes rights that callers do not have, and
 * holds an event on each, so that those that are drawn are not the first there.
 */
void stage_look_up(const struct plan_of_stage *plan, struct environment *env);

/*
 * Sets the stage for the calling process, which has become `who`; what cannot be had is left out,
 * and the calls that name it. `settled` is of the time before privilege was dropped:
 * block_settle(). `foreign` is a process of another user, or 0. 0 or a negative errno. It ends with
 * the process.
 */
int stage_set(struct stage *stage, const struct plan_of_stage *plan, const struct model *model,
	      const struct tables *tables, const struct who *who, pid_t foreign);

/* The thing of that role and value, or NULL. */
const struct thing *stage_thing(const struct stage *stage, enum role role, uint64_t value);

#endif
