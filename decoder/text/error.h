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

/* A JSON text. */
struct source {
	const char *name; /* path below the root: "abi/attr.json" */
	const char *root; /* shown before the name in messages: "cases", or the folder given */
	const char *text; /* NUL-terminated */
	size_t length;    /* bytes, without the NUL */
	int is_left_out;  /* not parsed: nothing of it is asked for */
	int is_borrowed;  /* built in; there for what others need of it, and picked by no name */
};

/* A chain from the value back to the root, on the caller's stack. */
struct where {
	const struct where *up;
	const struct source *source;
	const char *key; /* NULL: an array's element */
	size_t index;
	const char *note; /* said behind the pointer: which row of an `each` is meant */
};

struct where where_root(const struct source *source);
struct where where_key(const struct where *up, const char *key);
struct where where_index(const struct where *up, size_t index);

/* The same as arguments: places that live as long as the block they stand in. */
#define AT_ROOT(source) ((struct where[]){where_root(source)})
#define AT_KEY(up, key) ((struct where[]){where_key(up, key)})
#define AT_INDEX(up, index) ((struct where[]){where_index(up, index)})

/* The line (from 1) on which the value at a pointer begins, or 0. The text is valid JSON. */
int where_line(const struct source *source, const char *pointer);

struct error {
	char file[256];
	int line; /* 1 and up; 0: not known */
	char pointer[256];
	char expected[256];
	char got[256];
	char nearest[64]; /* empty: none is near */
	bool no_memory;   /* nothing is wrong with the JSON */
};

/* One of the first three; else nothing was there. */
struct got {
	const json_t *json;
	const char *text, *name, *nearest; /* of the name; may be NULL */
};

/* Fills `e`, unless it is filled already, and returns -EINVAL. */
int error_fill(struct error *e, const struct where *w, struct got got, const char *expected, ...)
	__attribute__((format(printf, 4, 5)));
#define error_value(e, w, value, ...) error_fill(e, w, (struct got){.json = (value)}, __VA_ARGS__)
#define error_name(e, w, got_name, near, ...)                                                      \
	error_fill(e, w, (struct got){.name = (got_name), .nearest = (near)}, __VA_ARGS__)
#define error_text(e, w, got_text, ...)                                                            \
	error_fill(e, w, (struct got){.text = (got_text)}, __VA_ARGS__)

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

/* The index of `name` in a NULL-terminated list, or -1; then *near, if not NULL, is gathered. */
int name_index(const char *name, const char *const list[], struct nearest *near);

#endif
