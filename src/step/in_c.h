/* SPDX-License-Identifier: MIT */
/*
 * Steps as C. What a verb's own line is stands beside the verb: verb.in_c.
 */
#ifndef PERFABI_STEP_IN_C_H
#define PERFABI_STEP_IN_C_H

#include "step/program.h"
#include "translate/translate.h"

/* Writes each step that is done on this machine; what cannot be written is noted: t->missing. */
void block_in_c(struct translation *t, const struct block *block);

/* The steps of a child, which binds names of its own, and then `last`. */
void child_in_c(struct translation *t, const struct block *block, const char *last);

/* The block that the statement's argument at `key` is. */
const struct block *block_of(const struct statement *s, const char *key);

/* The argument at `key` as a number in C; its fallback, if the case does not give it. */
const char *number_in_c(struct translation *t, const struct statement *s, const char *key);

/* The C name of what the argument at `key` names. */
const char *name_in_c(struct translation *t, const struct statement *s, const char *key);

/* The same as a file descriptor: "(int)e". */
const char *fd_in_c(struct translation *t, const struct statement *s, const char *key);

/* A call that is made, and held against what the step expects of it. */
void call_in_c(struct translation *t, const struct statement *s, const char *call);

/* Holds a value against the step's pattern, if it has one and no errno is expected. */
void shown_in_c(struct translation *t, const struct statement *s, const char *value,
		const char *pointer, const struct c_shape *shape);

/* Whether the step must be refused. */
bool is_refusal(const struct statement *s);

/* Sets a variable to that number: the one that the step binds, or one of its own. Its name. */
const char *bind_number(struct translation *t, const struct statement *s, const char *value);

#endif
