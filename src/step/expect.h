/* SPDX-License-Identifier: MIT */
/*
 * `expect` of a step: {"errno": NAME}, a pattern on what the step shows, or alternatives with
 * `when`; without one, success.
 */
#ifndef PERFABI_STEP_EXPECT_H
#define PERFABI_STEP_EXPECT_H

#include "step/step.h"

/* Checks its form, and binds what its patterns bind. 0, or -EINVAL with `e` filled. */
int step_expect_check(const json_t *expect, const struct verb *verb, const struct cases *cases,
		      struct scope *scope, const struct where *w, struct error *e);

/* Whether what came of the step is what it expects; else *f says what came. */
bool step_expect_judge(struct step *s, struct failure *f);

/*
 * The expectation that applies to the step, with its index-th part turned round: of an errno,
 * success; of success where nothing is shown, EINVAL. Counts `index` down by the parts there are;
 * NULL if there are fewer. A new reference.
 */
json_t *step_expect_flip(const json_t *step, const struct verb *verb,
			 const struct instance *instance, struct environment *env, unsigned *index);

#endif
