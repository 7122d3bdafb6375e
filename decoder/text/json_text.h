/* SPDX-License-Identifier: MIT */
/*
 * A JSON value as text, whole or not at all, and texts that are members.
 */
#ifndef PERFABI_JSON_TEXT_H
#define PERFABI_JSON_TEXT_H

#include <jansson.h>

/*
 * As json_dumps(), which loses keys and strings and says nothing when memory ends while it writes
 * them (jansson 2.14). NULL if there is no memory; free() it.
 */
char *json_text(const json_t *json, size_t flags);

/* The text that is the member `key`; "" if there is none, or it is no text. The JSON's own. */
const char *member_text(const json_t *object, const char *key);

/* The exit status without memory. */
enum { EXIT_NO_MEMORY = 3 };

/* `memory`, or if it is NULL the end of the program with a message and that status: for programs,
 * not for the library. */
void *or_exit(void *memory);

/*
 * The same of all that jansson allocates from now on. Its parser (2.14) loses text or aborts where
 * memory ends, so that nothing it returns could be believed. For main() alone: it is one setting of
 * the whole process.
 */
void json_memory_or_exit(void);

#endif
