/* SPDX-License-Identifier: MIT */
/*
 * Making whole cases of parts: defaults, vehicle and case merged, parameters of `each` put in.
 */
#ifndef PERFABI_MERGE_H
#define PERFABI_MERGE_H

#include <jansson.h>

#include "abi/abi.h"

/*
 * `patch` over `base`, as RFC 7386: objects member by member, null takes a member away, anything
 * else replaces. In an attr, a patch that gives `type` without `config` takes the old config away:
 * it meant something else. What does not change is shared, so neither may be written to afterwards.
 * A new reference.
 */
json_t *merge(const json_t *base, const json_t *patch);

/*
 * `json` with "$name" and "$name.member" replaced by what `value` has: by the value
 * itself where the string is nothing else, by its text within a longer string. What does not change
 * is shared. A new reference.
 */
json_t *substitute(const json_t *json, const char *name, const json_t *value);

/*
 * The rows of an `each` as an object of name: value. `each` is {"PARAM": {ROW: VALUE}}, or in place
 * of the rows a list of scalars, "A..B", or "$abi.SET" for a row a name of the ABI: a family of
 * constants, attr.bits, attr.fields, attr.sizes or regs; or {"$pairs": {NAME: N, ...}} for a row
 * each two names: its value has a, b and sum. NULL with `e` filled.
 */
json_t *each_rows(const json_t *rows, const struct abi *abi, const struct abi_arch *arch,
		  const struct where *w, struct error *e);

/* Of a value, or a list of such, how many there are; of NULL, none. */
size_t elements(const json_t *value);

/* The i-th, borrowed; NULL behind the last. */
const json_t *element(const json_t *value, size_t i);

#endif
