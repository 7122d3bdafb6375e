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

/* Of the name of a $variable, with what ends it: in an expression or a text, bound or not. */
enum { VARIABLE_NAME = 64 };

/* A number of -(2^63) to 2^64-1. */
struct value {
	uint64_t bits;
	bool negative; /* it is below zero, and `bits` its two's complement */
	bool known;    /* false: it hangs on a variable that is settled later, and is none yet */
};

/* What `$name` stands for. */
struct vars {
	/*
	 * 0 with *value set, and value->known false where it is not settled yet; -ENOENT for an
	 * unknown name; another negative errno where this machine cannot settle it. `near` may be
	 * NULL.
	 */
	int (*lookup)(const void *context, const char *name, struct value *value,
		      struct nearest *near);
	const void *context;
};

/*
 * Evaluates `json`: an integer, an expression, the name of a constant of `set` (may be NULL), or a
 * list of these, or-ed, which may be empty only where `set` gives its names. Expressions know
 * decimal and hexadecimal numbers, $variables, and in C's order of precedence - (unary), *, + -,
 * << >>, |. What each operator gives must be a number of struct value's range, and what << and >>
 * shift by one of 0 to 63; >> shifts no number below zero. 0, -ERANGE beyond that, or -EINVAL, with
 * `e` filled.
 */
int value_eval(const json_t *json, const struct abi_family *set, const struct vars *vars,
	       const struct where *w, struct value *out, struct error *e);

struct value value_of_s64(int64_t number);

/* An integer, or "0x..." above INT64_MAX, which JSON's integers here end at; NULL: no memory. */
json_t *value_json(uint64_t number);

#endif
