/* SPDX-License-Identifier: MIT */
/*
 * `given` of a case: what must be there before the call under test. A list of steps, each with one
 * verb; `bind` names its result for later steps and for the call.
 */
#ifndef PERFABI_GIVEN_H
#define PERFABI_GIVEN_H

#include "scope.h"

/*
 * Checks the form of every step and binds the names it would bind, so that what follows can be
 * checked against them. `scope->checking` is true. 0, or -EINVAL with `e` filled.
 */
int given_check(const json_t *given, const struct abi *abi, const struct abi_arch *arch,
		struct scope *scope, const struct where *w, struct error *e);

/*
 * Carries the steps out in the calling process, in order. What they make (files, processes, memory)
 * goes with the process and its group. 0, or a negative errno with `e` filled: `e->got` says which
 * step failed and how.
 */
int given_run(const json_t *given, const struct abi *abi, struct scope *scope,
	      const struct where *w, struct error *e);

/* The verbs, one a line with its meaning: for help texts. */
void given_help(FILE *f);

#endif
