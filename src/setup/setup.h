/* SPDX-License-Identifier: MIT */
/*
 * The processes, events, files and texts among which calls are made: cases/setup.json for those
 * that are drawn, a question's own for `why`.
 */
#ifndef PERFABI_SETUP_H
#define PERFABI_SETUP_H

#include "call/call.h"
#include "model/model.h"
#include "step/step.h"

/* The most of each list, behind which there is a place that nobody reads. */
enum { SETUP_NAMES = 64, SETUP_CALLS = 64 };

/* What a name of the setup stands for. */
struct setup_name {
	const char *name;
	enum role { A_TASK, AN_EVENT, A_FILE, A_TEXT, SOME_MEMORY } role;
	uint64_t value;
};

struct setup_names {
	struct setup_name list[SETUP_NAMES + 1];
	size_t count;
};

/* A call that others are made of. */
struct seed {
	struct call call;
	unsigned rare; /* it is drawn once in so many; 1: as often as others */
};

/* The file, compiled: the same for all who hunt. */
struct setup_plan {
	json_t *json;
	struct block block;
	const json_t *calls;
	const char **tracepoints; /* that the calls and the steps name */
	size_t tracepoint_count;
	struct arena arena;
};

/* The setup as one process has set it, or as it would be on another machine. */
struct setup {
	const struct setup_plan *plan;
	const struct model *model;
	struct steps *steps; /* NULL: nothing of it is there */
	struct scope *scope; /* what the names stand for */
	struct scope imagined;
	bool no_files;      /* no descriptor is left for another */
	size_t failed_step; /* the first of `given` that failed, from 1; 0: none */
	char failure[512];
	struct setup_names names;
	struct seed seeds[SETUP_CALLS];
	size_t seed_count;
	struct objects objects;
	struct object_task tasks[SETUP_NAMES + 1];
	struct object_event events[SETUP_NAMES + 1];
	struct object_file files[SETUP_NAMES + 1];
	struct object_text texts[SETUP_NAMES + 1];
};

/* Whoever calls: a caller among the names of a setup, or one that the model alone is asked about.
 */
struct judge {
	const struct model *model;
	const struct setup *setup;
	struct caller caller;
	struct objects objects;
	bool is_tried;     /* else the model alone is asked */
	bool looks_behind; /* of the model: what it cannot tell is taken to be let through */
	struct evaluation evaluation;
	struct call_memory memory;
	pid_t zombie;   /* for the witnesses */
	unsigned asked; /* calls so far */
};

/* Begins the evaluation of the call. */
void judge_begin(struct judge *judge, const struct call *call);

/* Reads it from JSON, of which it takes the reference (NULL: `e` is filled already). 0 or -EINVAL
 * with `e` filled. Free with setup_free_plan(). */
int setup_load(struct setup_plan *plan, json_t *json, const struct where *root,
	       const struct tables *tables, struct error *e);
void setup_free_plan(struct setup_plan *plan);

/*
 * Looks up the tracepoints that the calls and the steps name, which takes rights that callers do
 * not have, and holds an event on each, so that those that are drawn are not the first there.
 */
void setup_look_up(const struct setup_plan *plan, struct environment *env);

/*
 * The same of the tracepoint that the `open` of a call names, if it does. One that another machine
 * than this is asked about, it has.
 */
void setup_settle_tracepoint(struct model *model, const json_t *call);

/*
 * Prepares the setup for the calling process, which has become `who`; what cannot be had is left
 * out, and so are the calls that name it. `settled` is of the time before privilege was dropped:
 * block_settle(). `foreign` is a process of another user, or 0. 0 or a negative errno. It ends with
 * the process.
 */
int setup_prepare(struct setup *setup, const struct setup_plan *plan, const struct model *model,
		  const struct tables *tables, const struct who *who, pid_t foreign);

/*
 * The setup as it would be on a machine that is not this one: each name stands for a number that
 * nothing has. Free with setup_forget(). 0 or a negative errno.
 */
int setup_imagine(struct setup *setup, const struct setup_plan *plan, struct model *model);
void setup_forget(struct setup *setup);

/* The call as `open` of a case has it, with the names of its setup by their names: a new
 * reference.
 */
json_t *setup_open_json(const struct setup_names *names, const struct environment *env,
			const struct call *call);

/* An event may send SIGTRAP to whom it counts, and overflows may signal: the process goes on. */
void setup_survive_signals(void);

#endif
