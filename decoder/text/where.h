/* SPDX-License-Identifier: MIT */
/*
 * A JSON text, and a place in it: what messages point at.
 */
#ifndef PERFABI_WHERE_H
#define PERFABI_WHERE_H

#include <stddef.h>

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
#define AT_KEY(up, key) ((struct where[]){where_key(up, key)})
#define AT_INDEX(up, index) ((struct where[]){where_index(up, index)})

/* The RFC 6901 pointer to it, cut to fit. */
void where_pointer(const struct where *w, char *out, size_t size);

/* The line (from 1) on which the value at a pointer begins, or 0. The text is valid JSON. */
int where_line(const struct source *source, const char *pointer);

#endif
