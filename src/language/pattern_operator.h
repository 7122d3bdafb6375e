/* SPDX-License-Identifier: MIT */
/*
 * The operators of patterns, by name. An object whose first key is one has no other keys.
 */
#ifndef PERFABI_PATTERN_OPERATOR_H
#define PERFABI_PATTERN_OPERATOR_H

#include <jansson.h>
#include <stdbool.h>

#include "text/error.h"

struct match;

struct relation {
	const char *name;
	bool (*holds)(struct match *, const json_t *operand, const json_t *got);
	enum operand_shape {
		NUMBER,
		PAIR,
		NAMES,
		PATTERN,
		PATTERNS,
		TRUTH,
		TEXT,
		NAME
	} shape; /* of the operand */
	const char *help;
};

/* The operator of that name, or NULL; `near`, if not NULL, is offered every name. */
const struct relation *pattern_operator(const char *name, struct nearest *near);

bool pattern_is_operation(const json_t *pattern);

#endif
