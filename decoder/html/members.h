/* SPDX-License-Identifier: MIT */
/*
 * A line of perfabi-decode as HTML: its JSON, each member of a record marked with its number among
 * those of "at".
 */
#ifndef PERFABI_HTML_MEMBERS_H
#define PERFABI_HTML_MEMBERS_H

#include <jansson.h>
#include <stdio.h>

/* The members of a record's header, which "at" does not have, come first. */
enum { HEADER_MEMBERS = 3, MEMBER_COLOURS = 8 };
extern const char *const header_members[HEADER_MEMBERS + 1];

/*
 * Writes the object that `line` is the text of, a member a line and without "at". `at` has the
 * members' [offset, length] by name; NULL: none is marked.
 */
void members_write(FILE *f, const char *line, const json_t *at);

/* The beginning of what is marked as the number-th member: `tag`, its class and its number. */
void members_open(FILE *f, const char *tag, size_t number);

#endif
