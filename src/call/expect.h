/* SPDX-License-Identifier: MIT */
/*
 * What a case expects of its call, and the verdict on what came.
 */
#ifndef PERFABI_EXPECT_H
#define PERFABI_EXPECT_H

#include "case/case.h"

/* One alternative of `expect`, read. */
struct expectation {
	bool ok;
	int err;            /* if not ok */
	int phase;          /* index, if not ok */
	int cloexec;        /* 0, 1, or -1: not said */
	const json_t *attr; /* patterns on attr after the call, or NULL: it is as it was */
	bool attr_flipped;  /* expects another size than `attr` says; without it, some size written
			     */
	/* for a capability */
	const json_t *yes, *no, *denied;
};

/* What the kernel did, as far as a verdict needs it. */
struct observation {
	struct answer answer;
	unsigned phases; /* the gates that can have refused, as a mask */
};

enum outcome { PASS, FAIL, SKIP, XFAIL, XPASS, ERROR, OUTCOMES };
extern const char *const outcome_names[OUTCOMES];

/* The ways in which `perfabi mutate` makes an expectation wrong. */
enum flip_kind {
	FLIP_NONE,
	FLIP_ERRNO,
	FLIP_OUTCOME,
	FLIP_PHASE_BEFORE,
	FLIP_PHASE_AFTER,
	FLIP_ATTR,
	FLIP_CLOEXEC,
	FLIP_PART, /* of the steps' expectations, one after the other */
	FLIPS
};
struct flip {
	enum flip_kind kind;
	unsigned part; /* of FLIP_PART: which */
};
extern const char *const flip_names[FLIPS];

/* Checks one `expect` (an object or a list) or `outcome`. 0, or -EINVAL with `e` filled. */
int expect_check(const json_t *expect, const struct cases *cases, const struct where *w,
		 struct error *e);
int outcome_check(const json_t *outcome, bool has_steps, const struct cases *cases,
		  const struct where *w, struct error *e);

/* Checks a `when`; and whether what it stands in applies to that instance here. */
int expect_check_when(json_t *when, const struct cases *cases, const struct where *w,
		      struct error *e);
bool expect_applies(const json_t *alternative, const struct instance *instance,
		    struct environment *env);

/* The first alternative whose `when` applies. 0, or -ENOENT if none does. */
int expect_choose(const struct instance *instance, const struct body *body,
		  const struct cases *cases, struct environment *env, struct expectation *out);

/* Makes the expectation wrong in that way. False if that way does not apply to it. */
bool expect_flip(struct expectation *x, enum flip_kind flip, const struct cases *cases);

/*
 * "no" or "denied" as the capability's outcome has that errno; "no" for any other failure (err 0
 * too) if `otherwise` is among what means it; or NULL.
 */
const char *expect_capability(const struct body *body, int err);

/* Whether whatever comes is an answer to the capability's question. */
bool expect_takes_all(const struct body *body);

/* The verdict, and for people what was expected and what came. */
struct verdict {
	enum outcome outcome;
	const char *capability; /* "yes", "no", "denied", or NULL */
	char expected[256], got[256];
};
void expect_judge(const struct expectation *x, const struct observation *seen,
		  const struct cases *cases, const struct scope *scope, struct verdict *out);

#endif
