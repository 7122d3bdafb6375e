/* SPDX-License-Identifier: MIT */
/*
 * `expect` of a step: {"errno": NAME}, of an open with the gate that refuses, a pattern on what the
 * step shows, or alternatives with `when`; without one, success.
 */
#ifndef PERFABI_STEP_EXPECT_H
#define PERFABI_STEP_EXPECT_H

#include "step/program.h"

/*
 * Compiles the statement's `expect`, holds its patterns against what the verb shows, and binds what
 * they bind. 0, or a negative errno with compiling->error filled.
 */
int expect_compile(struct compiling *c, struct statement *statement, const struct where *w);

/*
 * Reads `outcome` of a capability that is one call, or of steps, which may answer no otherwise than
 * by an errno. 0, or a negative errno with compiling->error filled.
 */
int outcomes_compile(struct compiling *c, struct outcomes *out, const json_t *json, bool is_call,
		     const struct where *w);

/* Whether that errno is one of them. */
bool outcome_lists(const int errnos[PHASE_ERRNOS_MAX], int err);

/* What the verdict on its steps says of a capability: that it is there, or which errno it has. */
void outcomes_judge(const struct outcomes *outcomes, bool is_call, struct verdict *v);

/* The alternative that counts. NULL: none does, or the step is no test. */
struct alternative *expect_choose(const struct statement *statement, const struct who *who,
				  struct environment *env);

/*
 * Settles what `when` says of each statement, those of lists within it too: once, by who begins a
 * case, with the rights to look.
 */
void block_settle(const struct block *block, const struct who *who, struct environment *env);

#endif
