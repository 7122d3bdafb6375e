/* SPDX-License-Identifier: MIT */
/*
 * The types of argument that many verbs have. What only one has stands beside that verb.
 */
#ifndef PERFABI_TYPES_H
#define PERFABI_TYPES_H

#include "step/verb.h"

/* A number of 64 bits, an expression; negative ones are taken in two's complement. This and all
 * that are numbers go to any integer, or a bool. */
extern const struct argument_type argument_number;
/* What a name was bound to before. */
extern const struct argument_type argument_bound;
/* A text with its $names put in: const char *, which is the step's. */
extern const struct argument_type argument_text;
/* A text as it is, which is not empty: const char *; `most` is its length at most. */
extern const struct argument_type argument_literal;
/* One of `words`: its value. */
extern const struct argument_type argument_word;
/* A list of `words`: their values or-ed. */
extern const struct argument_type argument_words;
/* True or false. */
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

/* The path of a file that is read: a text. While the case is compiled, what stands before the first
 * $ decides. */
extern const struct argument_type argument_path_read;
/* Of one that is written: no PMU's. */
extern const struct argument_type argument_path_written;
/* A file to be written by its path, or an event by its name: the member `path`, or `fd`. */
extern const struct argument_type argument_write_target;

/* Puts the number into the argument's member, of whatever size it is. */
void argument_store(const struct argument *a, uint64_t number, void *out);

#endif
