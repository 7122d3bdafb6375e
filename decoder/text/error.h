/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with a piece of JSON, and where: file, line, JSON pointer, what was expected, what
 * was got, and the nearest name there is. The first error wins; the caller owns the struct.
 */
#ifndef PERFABI_ERROR_H
#define PERFABI_ERROR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "text/where.h"

struct error {
	char file[256];
	int line; /* 1 and up; 0: not known */
	char pointer[256];
	char expected[256];
	char got[256];
	char nearest[64]; /* empty: none is near */
	bool no_memory;   /* nothing is wrong with the JSON */
};

/*
 * Each of these fills `e`, unless it is filled already, and returns -EINVAL. `got` may be NULL:
 * then the message says that nothing is there.
 */
int error_value(struct error *e, const struct where *w, const json_t *got, const char *expected,
		...) __attribute__((format(printf, 4, 5)));
int error_name(struct error *e, const struct where *w, const char *got, const char *nearest,
	       const char *expected, ...) __attribute__((format(printf, 5, 6)));
int error_text(struct error *e, const struct where *w, const char *got, const char *expected, ...)
	__attribute__((format(printf, 4, 5)));

/* The same for want of memory for `what`; returns -ENOMEM. */
int error_no_memory(struct error *e, const struct where *w, const char *what);

/* True once something was put in. */
int error_is_set(const struct error *e);

/* Prints `PROGRAM: FILE:LINE: POINTER` and the indented lines below it. */
void error_print(FILE *f, const char *program, const struct error *e);

/* The candidate nearest to a misspelt name, gathered one candidate at a time. */
struct nearest {
	const char *name;
	const char *best; /* NULL: none is near enough */
	size_t distance;
};

struct nearest nearest_to(const char *name);
void nearest_try(struct nearest *n, const char *candidate);

/* The index of `name` in a NULL-terminated list, or -1; only then is *near (may be NULL) gathered.
 */
int name_index(const char *name, const char *const list[], struct nearest *near);

#endif
