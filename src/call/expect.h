/* SPDX-License-Identifier: MIT */
/*
 * What is expected of one perf_event_open(2): `expect` of a case that is one call, `outcome` of a
 * capability; and the verdict on what came.
 */
#ifndef PERFABI_CALL_EXPECT_H
#define PERFABI_CALL_EXPECT_H

#include "call/tables.h"
#include "language/arena.h"
#include "language/verdict.h"
#include "language/when.h"

/* One alternative of `expect`. */
struct expectation {
	const json_t *when; /* NULL: it always counts */
	bool ok;
	int err;            /* if not ok */
	int phase;          /* index, if not ok */
	int cloexec;        /* 0, 1, or -1: not said */
	const json_t *attr; /* patterns on attr after the call, or NULL: it is as it was */
	bool attr_mutated;  /* another size than `attr` says; without it, some size written */
};

struct expectations {
	struct expectation *list;
	size_t count;
};

/* `outcome` of a capability: what is an answer to its question. */
struct capability {
	int no[PHASE_ERRNOS_MAX], denied[PHASE_ERRNOS_MAX]; /* errnos, behind the last 0 */
	bool otherwise;                                     /* whatever else comes means no */
	bool mutated; /* nothing is an answer: whatever comes must be a failure */
};

/* What the kernel did, as far as a verdict needs it. */
struct observation {
	struct answer answer;
	unsigned phases; /* the gates that can have refused, as a mask */
};

/* Each reads into memory of the arena, or into *out: 0, or a negative errno with `e` filled. */
int expectations_compile(struct expectations *out, const json_t *expect,
			 const struct tables *tables, const struct when_names *names,
			 struct arena *arena, const struct where *w, struct error *e);
int capability_compile(struct capability *out, const json_t *outcome, bool has_steps,
		       const struct tables *tables, const struct where *w, struct error *e);

/* The first alternative whose `when` holds; NULL if none does. */
struct expectation *expectations_choose(const struct expectations *x, const struct who *who,
					struct environment *env);

/* The ways in which an expectation of a call can be wrong. */
enum call_mutation {
	MUTATE_ERRNO,
	MUTATE_OUTCOME,
	MUTATE_PHASE_BEFORE,
	MUTATE_PHASE_AFTER,
	MUTATE_ATTR,
	MUTATE_CLOEXEC,
	CALL_MUTATIONS
};

/* Makes it wrong in that way. False if that way does not apply to it. */
bool expectation_mutate(struct expectation *x, enum call_mutation how, const struct tables *tables);

/*
 * "yes" of no errno (0), "no" or "denied" as the outcome has it; NULL: it is no answer.
 */
const char *capability_answer(const struct capability *c, int err);

/* Whether that errno means no, without `otherwise`. */
bool capability_lists(const int errnos[PHASE_ERRNOS_MAX], int err);

/* Fills all of *out but `call`. */
void expectation_judge(const struct expectation *x, const struct observation *seen,
		       const struct tables *tables, const struct scope *scope, struct verdict *out);
void capability_judge(const struct capability *c, const struct observation *seen,
		      struct verdict *out);

/* "EINVAL from validate or fd": the gates as far as anybody asked. */
void describe_refusal(int err, unsigned phases, const struct tables *tables, char *out,
		      size_t size);

#endif
