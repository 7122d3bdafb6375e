/* SPDX-License-Identifier: MIT */
/*
 * Putting a case together: defaults, vehicle and what is written, with the row's value put in.
 */
#ifndef PERFABI_CASE_BODY_H
#define PERFABI_CASE_BODY_H

#include <jansson.h>

#include "text/error.h"

/* The case's member, or else the one in `defaults`; NULL if neither has it. */
const json_t *case_own_or_default(const json_t *own, const json_t *defaults, const char *key);

/*
 * The case `one`, its row put in, with the file's defaults and the vehicle (of vehicles.json; NULL:
 * none) merged in, as it is compiled and shown. Members of a wrong type stay as they are, for the
 * check to find. A new reference.
 */
json_t *case_complete(const json_t *file, const json_t *one, const json_t *vehicle);

/*
 * Puts, in each `open` of the file that has a `base`, the open of that name under what is written
 * there. 0, or a negative errno with `e` filled.
 */
int bases_apply(json_t *file, const json_t *bases, const struct where *w, struct error *e);

#endif
