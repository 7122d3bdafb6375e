/* SPDX-License-Identifier: MIT */
/*
 * All verbs, and which one a step has.
 */
#ifndef PERFABI_VOCABULARY_H
#define PERFABI_VOCABULARY_H

#include "step/verb.h"

/* Lists of verbs, the last NULL; of each list the last has no name. verbs/table.c. */
extern const struct verb *const verb_lists[];

/* The verb of a step: the one that knows all its keys. NULL with `e` filled (may be NULL). */
const struct verb *verb_of(const json_t *step, const struct where *w, struct error *e);

/* The argument of that key, or NULL. */
const struct argument *verb_argument(const struct verb *verb, const char *key);

/* All verbs in the order of the help: the next, or the first for NULL; NULL behind the last. */
const struct verb *verb_next(const struct verb *verb);

/* The key that the verb has in a step. */
const char *verb_key(const struct verb *verb);

#endif
