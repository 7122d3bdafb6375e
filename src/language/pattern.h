/* SPDX-License-Identifier: MIT */
/*
 * Patterns: what a case expects of a value, an object, a list of records.
 */
#ifndef PERFABI_PATTERN_H
#define PERFABI_PATTERN_H

#include "language/scope.h"

/* The first thing that did not fit, for people. */
struct mismatch {
	char path[96];                 /* "/2/sample_id/pid"; empty: the whole */
	char expected[512], got[1024]; /* JSON, cut where it is long */
	char unknown[64];              /* "$r.valeu": in the pattern, and stands for nothing */
};

/*
 * Checks the form of a pattern, with scope->checking, and binds what its `bind` would. 0, or
 * -EINVAL with `e` filled.
 */
int pattern_check(const json_t *pattern, struct scope *scope, const struct where *w,
		  struct error *e);

/* The same of a pattern for one number: a value, or operators. */
int pattern_check_number(const json_t *pattern, struct scope *scope, const struct where *w,
			 struct error *e);

/*
 * Calls `visit` with each object of members that an element of a list is held against by the
 * pattern, until it returns other than 0. Returns that.
 */
int pattern_visit_elements(const json_t *pattern,
			   int (*visit)(void *context, const json_t *object, const struct where *),
			   void *context, const struct where *w);

/* Whether a number fits a pattern of numbers. */
bool pattern_match(const json_t *pattern, uint64_t value, const struct scope *scope);

/*
 * Whether `got` (NULL: nothing is there) fits. A member of `got` that the pattern does not name may
 * be anything. `bind` binds in `scope`. If it does not fit, *m says where.
 * With m->unknown, neither says anything.
 */
bool pattern_match_json(const json_t *pattern, const json_t *got, struct scope *scope,
			struct mismatch *m);

/*
 * A copy of the pattern with its index-th part turned round, so that what fitted does not fit; NULL
 * if it has no such part. Counts `index` down by the parts it has. For mutation.
 */
json_t *pattern_flip(const json_t *pattern, unsigned *index);

/* The operators, one a line with its meaning: for help texts. */
void pattern_help(FILE *f);

#endif
