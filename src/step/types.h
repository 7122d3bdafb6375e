/* SPDX-License-Identifier: MIT */
/*
 * The types of argument that many verbs have. What only one has stands beside that verb.
 */
#ifndef PERFABI_TYPES_H
#define PERFABI_TYPES_H

#include "step/verb.h"

/* The arguments of the many verbs that have one alone. */
struct fd_step {
	uint64_t fd; /* or the id of a process */
};
struct number_step {
	uint64_t number;
};
struct text_step {
	char text[320];
};

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

/* The words as a list, ", " between, cut at `size`. */
void argument_words_text(const struct word *words, char *out, size_t size);

/* The JSON Schema of what can be written there. A new reference, or NULL. */
json_t *argument_schema(const struct argument *a);

/* That, or a text that a row's value is put into. Takes the reference; a new one. */
json_t *schema_or_variable(json_t *schema);

/* For types that are the number, the text or the steps of above but for one thing. */
int argument_compile_number(struct compiling *c, const struct argument *a, struct operand *operand,
			    const struct where *w);
int argument_number_value(struct step *s, const struct argument *a, const struct operand *operand,
			  void *out);
json_t *argument_number_schema(const struct argument *a);
int argument_text_value(struct step *s, const struct argument *a, const struct operand *operand,
			void *out);
int argument_compile_steps(struct compiling *c, const struct argument *a, struct operand *operand,
			   const struct where *w);

/* The path of a file that is read: char []. While the case is compiled, what stands before the
 * first $ decides. */
extern const struct argument_type argument_path_read;
/* Of one that is written: no PMU's. */
extern const struct argument_type argument_path_written;
/* A file to be written by its path, or an event by its name. */
struct write_target {
	uint64_t fd;
	char path[256]; /* empty: it is the fd */
};
extern const struct argument_type argument_write_target;
/* That path, as an argument of its own. */
extern const struct argument written_path;

#endif
