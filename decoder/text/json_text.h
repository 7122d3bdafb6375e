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

#endif
