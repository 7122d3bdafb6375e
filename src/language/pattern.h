/* SPDX-License-Identifier: MIT */
/*
 * Patterns: what a case expects of a value, an object, a list of records.
 */
#ifndef PERFABI_PATTERN_H
#define PERFABI_PATTERN_H

#include "language/scope.h"
#include "language/verdict.h"

/*
 * Checks the form of a pattern, with scope->checking, and binds what its `bind` would. 0, or
 * -EINVAL with `e` filled.
 */
int pattern_check(const json_t *pattern, struct scope *scope, const struct where *w,
		  struct error *e);

/* The same of a pattern for one number: a value, or operators. */
int pattern_check_number(const json_t *pattern, struct scope *scope, const struct where *w,
			 struct error *e);

/* Whether a number fits a pattern of numbers. */
bool pattern_match(const json_t *pattern, uint64_t value, const struct scope *scope);

/*
 * Whether `got` (NULL: nothing is there) fits. A member of `got` that the pattern does not name may
 * be anything. `bind` binds in `scope`. If it does not fit, *why (NULL: nobody asks) is a failure
 * that says where: "/2/pid 17"; an error, whatever fits, if a name in the pattern stands for
 * nothing.
 */
bool pattern_match_json(const json_t *pattern, const json_t *got, struct scope *scope,
			struct verdict *why);

/*
 * A copy of the pattern with its index-th part turned round, so that what fitted does not fit; NULL
 * if it has no such part. Counts `index` down by the parts it has.
 */
json_t *pattern_mutate(const json_t *pattern, unsigned *index);

/* The operators, one a line with its meaning: for help texts. */
void pattern_help(FILE *f);

#endif
