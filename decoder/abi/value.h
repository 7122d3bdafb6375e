/* SPDX-License-Identifier: MIT */
/*
 * Values in JSON: numbers, "0x…", "1<<25", "$page_size-1", names of constants, lists or-ed
 * together.
 */
#ifndef PERFABI_VALUE_H
#define PERFABI_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/abi.h"

/* What `$name` stands for. */
struct vars {
	/*
	 * 0 with *value set, and *known false where it is not settled yet; -ENOENT for an unknown
	 * name; another negative errno where this machine cannot settle it. `near` may be NULL.
	 */
	int (*lookup)(const void *context, const char *name, uint64_t *value, bool *known,
		      struct nearest *near);
	const void *context;
};

struct value {
	uint64_t bits;
	bool negative; /* a literal or result below zero, in two's complement */
	bool known;    /* false: it hangs on a variable that is settled later */
};

/*
 * Evaluates `json`: an integer, an expression, the name of a constant of `set` (may be NULL), or a
 * list of these, or-ed. Expressions know decimal and hexadecimal numbers, $variables, and in C's
 * order of precedence - (unary), *, + -, <<, |. 0, or -EINVAL with `e` filled.
 */
int value_eval(const json_t *json, const struct abi_family *set, const struct vars *vars,
	       const struct where *w, struct value *out, struct error *e);

#endif
