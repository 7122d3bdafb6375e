/* SPDX-License-Identifier: MIT */
/*
 * Patterns: what a case expects of a value, an object, a list of records. A pattern is compiled
 * once, against the shape of what it will be held against; the tree is matched, mutated, printed,
 * and written as C.
 */
#ifndef PERFABI_PATTERN_H
#define PERFABI_PATTERN_H

#include "language/scope.h"
#include "language/verdict.h"
#include "text/arena.h"

struct match;

struct pattern {
	enum pattern_kind {
		PATTERN_VALUE,     /* equal to it */
		PATTERN_MEMBERS,   /* an object: each part fits the member that is its key */
		PATTERN_ELEMENTS,  /* a list of as many elements: each part fits its element */
		PATTERN_OPERATORS, /* each part is an operator that holds */
		PATTERN_OPERATOR   /* its parts are the operand's patterns and numbers */
	} kind;
	const json_t *json; /* as written; of an operator, its operand */
	const char *key;    /* of a member, or the operator's name; else NULL */
	const struct pattern_operator *op;
	struct pattern *parts;
	size_t count;
	bool is_own; /* names in it stand for something only once the pattern has bound them */
};

/* An operator. An object whose first key is one has no other keys. */
struct pattern_operator {
	const char *name;
	bool (*holds)(struct match *, const struct pattern *, const json_t *got);
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
	/* Of several operators that have a function: of a comparison, the orders that it allows. */
	enum {
		LESS = 1,
		EQUAL = 2,
		GREATER = 4,
		BITS_ALL = 8,
		BITS_NONE,
		BITS_ONLY,
		BYTES_FIRST,
		BYTES_LAST
	} way;
};

/* The operator of that name, or NULL; `near`, if not NULL, is offered every name. */
const struct pattern_operator *pattern_operator(const char *name, struct nearest *near);

/*
 * Compiles a pattern on values of that shape, in the arena, with scope->checking; binds what its
 * `bind` would. NULL with `e` filled: its form is wrong, or no such value can fit. Where a pattern
 * on a record names its type, its members are that type's, else any record's.
 */
struct pattern *pattern_compile(const json_t *json, const struct value_shape *shape,
				struct scope *scope, struct arena *arena, const struct where *w,
				struct error *e);

/*
 * Whether `got` (NULL: nothing is there) fits. A member of `got` that the pattern does not name may
 * be anything. `bind` binds in `scope`. If it does not fit, *why (NULL: nobody asks) is a failure
 * that says where: "/2/pid 17"; an error, whatever fits, if a name in the pattern stands for
 * nothing.
 */
bool pattern_match(const struct pattern *pattern, const json_t *got, struct scope *scope,
		   struct verdict *why);

/* The pattern of the member of that name, or NULL. */
const struct pattern *pattern_member(const struct pattern *pattern, const char *key);

/* The pattern as JSON: a new reference. */
json_t *pattern_json(const struct pattern *pattern);

/*
 * Whether it has an index-th part. Counts `index` down by the parts it has. With an arena that part
 * is turned round, so that what fitted does not fit.
 */
bool pattern_mutate(struct pattern *pattern, unsigned *index, struct arena *arena);

/* Less than, equal to or greater than 0, as `a` is to `b`; both are known. */
int value_compare(const struct value *a, const struct value *b);

/* The operators, one a line with its meaning: for help texts. */
void pattern_help(FILE *f);

#endif
