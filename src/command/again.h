/* SPDX-License-Identifier: MIT */
/*
 * The command that runs a case of this run again.
 */
#ifndef PERFABI_AGAIN_H
#define PERFABI_AGAIN_H

#include <jansson.h>

/*
 * `perfabi run` with the case files that a run has, of its `folder` (or NULL) and its arguments,
 * and its baseline (or NULL), as a list of words; the id of a case is to follow. A word has the
 * bytes that were given, UTF-8 or not. A new reference.
 */
json_t *again_words(const char *folder, const char *baseline, char *const arguments[]);

/* These for a shell. Free it. NULL without memory. */
char *again_command(const json_t *words);

#endif
