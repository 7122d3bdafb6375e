/* SPDX-License-Identifier: MIT */
/*
 * Patterns on numbers: a bare value equals; {"gt"|"ge"|"lt"|"le"|"ne": v}, {"between": [a, b]},
 * {"has": mask}, {"without": mask}; several keys must all hold.
 */
#ifndef PERFABI_PATTERN_H
#define PERFABI_PATTERN_H

#include "scope.h"

/* 0, or -EINVAL with `e` filled. `scope` is checking. */
int pattern_check(const json_t *pattern, const struct scope *scope, const struct where *w,
		  struct error *e);

/* True if the value fits. False too where a variable of the pattern cannot be settled. */
bool pattern_match(const json_t *pattern, uint64_t value, const struct scope *scope);

#endif
