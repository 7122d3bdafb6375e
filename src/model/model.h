/* SPDX-License-Identifier: MIT */
/*
 * The kernel's checks on the way through perf_event_open(2), executable: cases/checks.json in the
 * kernel's order, each with a predicate over the facts of a call. The first that holds decides.
 */
#ifndef PERFABI_MODEL_H
#define PERFABI_MODEL_H

#include "call/tables.h"
#include "model/predicate.h"

/* What people are told of one of a check's causes. */
struct reason {
	struct predicate *when; /* NULL: of every one */
	struct sentence because, instead;
};

struct check {
	const char *id;
	int gate;               /* index of the gate; -1: of what follows the open */
	struct predicate *when; /* NULL: it decides nothing here */
	struct predicate *may;  /* what must hold if it is to be the cause: `when`, or more */
	struct check_result {
		int err;  /* 0: unknown, or that of `fact` */
		int fact; /* index, or -1 */
	} result;
	struct reason own; /* what one says that has no list */
	const struct reason *says;
	size_t reason_count;
	struct sentence unsaid;
	const json_t *json;
};

struct model {
	const struct abi *abi;
	const struct phases *phases;
	struct facts facts;
	struct kinds kinds;
	struct learned learned;
	struct machine machine;
	struct check *checks; /* those that can decide, in the kernel's order */
	size_t count;
	struct check *suspects; /* those that can be the cause where none decides, in that order */
	size_t suspect_count;
	const json_t *terms; /* of cases/model.json */
	struct arena arena;
};

/* What it is loaded from. */
extern const struct doc_type checks_file_type;

struct model_sources {
	const struct source *model, *checks; /* model.json and checks.json */
	const json_t *list;                  /* the checks of the latter; outlives the model */
};

/*
 * Loads cases/model.json, and of cases/checks.json what has a predicate. What they ask of a machine
 * by tokens is settled against `env`; NULL: it stays unknown. 0, or a negative errno with `e`
 * filled. `tables` must outlive it. Free with model_free(), whatever came.
 */
int model_load(struct model *model, const struct model_sources *from, const struct tables *tables,
	       struct environment *env, struct error *e);
void model_free(struct model *model);

/* What becomes of a call, by the model; UNFORESEEN: it cannot tell. */
enum fate { OPENS, REFUSED, UNFORESEEN };

/* What the model says of a call. */
struct prediction {
	enum fate outcome;
	int err;                    /* where it is refused */
	const struct check *check;  /* that refuses, or that cannot be told; or NULL */
	const struct fact *unknown; /* the fact that is not known; or NULL. Of what is refused: it
				     * may be refused before `check`, with the same errno */
};

/* Predicts, of an evaluation that has begun. model->machine must have been filled. */
struct prediction model_predict(const struct model *model, struct evaluation *s);

/*
 * The first check behind `first`, one of model->checks, that is known to refuse the call if that
 * one lets it through; NULL: none is.
 */
const struct check *model_check_behind(const struct model *model, struct evaluation *s,
				       const struct check *first);

/*
 * What a check says of this call: of its reasons the first that holds, or the last where none is
 * known to. NULL: it says nothing but `unsaid`.
 */
const struct reason *check_reason(const struct model *model, const struct check *check,
				  struct evaluation *s);

/*
 * Tells of the check that has refused the call with the errno objects->known_errno, or can have, as
 * members of `told`: check, function, because, instead. Where it says nothing its condition is the
 * cause. False: none is known.
 */
bool model_tell_cause(const struct model *model, const struct call *call,
		      const struct caller *caller, const struct objects *objects, json_t *told);

/*
 * What the cause can be where the kernel has refused with that errno (0: any): the checks whose
 * `may`, and of those that decide whose `if`, is not known to be false; those first of which it
 * holds, each in the kernel's order. Writes at most `max`, and returns how many it has written.
 */
size_t model_suspects(const struct model *model, struct evaluation *s, int err,
		      const struct check **out, size_t max);

/*
 * Whether what other programs have open can be the cause of that errno (`others` of a check), which
 * no fact about this call says, of a call that is not refused `before` that check (NULL: at all).
 */
bool model_may_be_others(const struct model *model, struct evaluation *s, int err,
			 const struct check *before);

#endif
