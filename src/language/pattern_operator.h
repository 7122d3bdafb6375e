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
struct value;
struct vars;

struct relation {
	const char *name;
	bool (*holds)(struct match *, const json_t *operand, const json_t *got);
	enum operand_kind {
		OPERAND_NUMBER,
		OPERAND_PAIR,     /* of numbers */
		OPERAND_NAMES,    /* or a number of bits */
		OPERAND_PATTERN,  /* on the value itself */
		OPERAND_ELEMENT,  /* a pattern on each element */
		OPERAND_ELEMENTS, /* a pattern on elements, or a list of them */
		OPERAND_COUNTS,   /* the same, with how many of them there are */
		OPERAND_LENGTH,   /* a pattern on how many elements there are */
		OPERAND_TRUTH,
		OPERAND_TEXT,
		OPERAND_NAME
	} operand;
	enum about {
		ABOUT_ANY, /* value */
		ABOUT_NUMBER,
		ABOUT_BITS, /* a number or a list of names */
		ABOUT_TEXT,
		ABOUT_LIST
	} about;
	const char *help;
};

/* The operator of that name, or NULL; `near`, if not NULL, is offered every name. */
const struct relation *pattern_operator(const char *name, struct nearest *near);

bool pattern_is_operation(const json_t *pattern);

/* value_eval() of a number in a pattern: "0x5" and "$n+5" are some, 5 in quotes is a mistake. */
int pattern_number(const json_t *json, const struct vars *vars, const struct where *w,
		   struct value *value, struct error *e);

#endif
