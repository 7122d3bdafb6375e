/* SPDX-License-Identifier: MIT */
/*
 * The arguments of a step. A verb declares each in a row (verb.h): its key, its type and range,
 * where its value goes. From these rows come the reading, every message, the help and the JSON
 * Schema.
 */
#ifndef PERFABI_ARGUMENT_H
#define PERFABI_ARGUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "text/error.h"

struct compiling;
struct step;
struct argument;

/* What is written for an argument, looked at once. */
struct operand {
	const json_t *json; /* NULL: it is not there */
	bool is_settled;    /* it is a number that hangs on nothing that is known only later: */
	uint64_t number;    /* which */
	void *made;         /* what else was made of it, in the program's memory; or NULL */
};

struct argument_type {
	/*
	 * Checks operand->json, which is there, and makes of it what can be made before anything
	 * runs. 0, or a negative errno with compiling->error filled.
	 */
	int (*compile)(struct compiling *c, const struct argument *a, struct operand *operand,
		       const struct where *w);
	/*
	 * Writes the value to `out`, the argument's member. 0, or a negative errno with the step's
	 * error filled. NULL: operand->number is it, a uint64_t or a bool.
	 */
	int (*evaluate)(struct step *s, const struct argument *a, const struct operand *operand,
			void *out);
	/* The JSON Schema of what can be written: its text, or made of the argument's range or
	 * words. */
	const char *schema;
	json_t *(*make_schema)(const struct argument *a);
	/* How it is written in C. */
	enum { C_AS_NUMBER, C_AS_FD, C_AS_TEXT, C_AS_NAME, C_AS_WORDS, C_AS_TRUTH } c;
	/* Whether operand->made is a block of steps: done here, or by a child that has names of its
	 * own. */
	enum { HOLDS_NO_STEPS, HOLDS_STEPS, HOLDS_CHILD } holds;
};

/* A name and what it stands for. */
struct word {
	const char *name; /* of the last: NULL */
	uint64_t value;
};

struct argument {
	const char *key;
	const struct argument_type *type;
	size_t at, room;  /* its member of the verb's arguments: offset and size */
	size_t given;     /* offset of a bool that says whether it is there; 0: nobody asks */
	bool is_required; /* as the verb's own always is */
	bool is_long;     /* it is passed as a long, a size or an address */
	uint64_t fallback;
	uint64_t least, most; /* most 0: no bound */
	const struct word *words;
	const char *help; /* or NULL */
};

/* The member of a struct of arguments: initializers of `at` and `room`. */
#define MEMBER(type, member) .at = offsetof(type, member), .room = sizeof(((type *)0)->member)

/* Of a verb's row: the arguments, and the struct that they go to. */
#define ARGUMENTS(type, ...)                                                                       \
	.size = sizeof(type), .arguments = (const struct argument[])                               \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

#endif
