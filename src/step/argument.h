/* SPDX-License-Identifier: MIT */
/*
 * The arguments of a step. A verb declares each in a row (verb.h): its key, its type and range, where
 * its value goes. From these rows come the reading, every message, the help and the JSON Schema.
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
	/* A new JSON Schema of what can be written. */
	json_t *(*schema)(const struct argument *a);
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
	uint64_t fallback;
	uint64_t least, most; /* most 0: no bound */
	const struct word *words;
	const char *help; /* or NULL */
};

/* The member of a struct of arguments: initializers of `at` and `room`. */
#define MEMBER(type, member) .at = offsetof(type, member), .room = sizeof(((type *)0)->member)

/* A number of 64 bits, an expression: uint64_t. Negative ones are taken in two's complement. */
extern const struct argument_type argument_number;
/* What a name was bound to before: uint64_t. */
extern const struct argument_type argument_bound;
/* A text with its $names put in: char [], of which `room` decides how long it can be. */
extern const struct argument_type argument_text;
/* A text as it is, which is not empty: const char *; `most` is its length at most. */
extern const struct argument_type argument_literal;
/* One of `words`: uint64_t, its value. */
extern const struct argument_type argument_word;
/* A list of `words`: uint64_t, their values or-ed. */
extern const struct argument_type argument_words;
/* bool. */
extern const struct argument_type argument_truth;
/* Nothing but true: there is nothing to say. No member. */
extern const struct argument_type argument_nothing;
/* A list of steps: const struct block *. */
extern const struct argument_type argument_steps;
/* The same, done in another process or thread: what is bound there is not bound here. */
extern const struct argument_type argument_child;

/* As `open` of a case has it: const struct call *, which is the step's. */
extern const struct argument_type argument_open;

/* Whether lists of steps stand under it. */
bool argument_is_steps(const struct argument *a);

/* The words as a list, ", " between, cut at `size`. */
void argument_words_text(const struct word *words, char *out, size_t size);

/* {"type": name}. A new reference. */
json_t *schema_of_type(const char *name);

/* That, or a text that a row's value is put into. Takes the reference; a new one. */
json_t *schema_or_variable(json_t *schema);

#endif
