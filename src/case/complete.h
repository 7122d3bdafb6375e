/* SPDX-License-Identifier: MIT */
/*
 * Putting a case together; body_make() of case.h is made of these.
 */
#ifndef PERFABI_CASE_BODY_H
#define PERFABI_CASE_BODY_H

#include "case/case.h"

/* The case's member, or else the one in `defaults`; NULL if neither has it. */
const json_t *case_own_or_default(const json_t *own, const json_t *defaults, const char *key);

/* The file's spec with the case's merged in. A new reference. */
json_t *case_spec(const json_t *file, const json_t *one);

/* All tokens that an instance requires, but for those that its call implies. A new list, or NULL.
 */
json_t *case_requirements(const struct cases *cases, const struct instance *instance);

/*
 * The case `one`, its row put in, with the file's defaults and the vehicle (NULL: none) merged in,
 * as it is checked, shown and run. Members of a wrong type stay as they are, for the check to find.
 * A new reference.
 */
json_t *case_complete(const struct cases *cases, const json_t *file, const json_t *one,
		      const char *vehicle);

#endif
