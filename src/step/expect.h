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

/* The alternative that counts. NULL: none does, or the step is no test. */
struct alternative *expect_choose(const struct statement *statement, const struct who *who,
				  struct environment *env);

/*
 * Settles what `when` says of each statement, those of lists within it too: once, by who begins a
 * case, with the rights to look.
 */
void block_settle(const struct block *block, const struct who *who, struct environment *env);

#endif
