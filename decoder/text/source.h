/* SPDX-License-Identifier: MIT */
/*
 * The texts below cases/, built into the program or read from a folder.
 */
#ifndef PERFABI_SOURCE_H
#define PERFABI_SOURCE_H

#include <jansson.h>
#include <stddef.h>

struct error;

struct source {
	const char *name; /* path below the root: "abi/attr.json" */
	const char *root; /* shown before the name in messages: "cases", or the folder given */
	const char *text; /* NUL-terminated */
	size_t length;    /* bytes, without the NUL */
	int is_borrowed;  /* for what others in it need: built in, beside files that were named */
};

/* A list of sources, sorted by name. */
struct sources {
	struct source *list;
	size_t count;
	char *owned_root; /* NULL: built in */
};

/* The line (from 1) on which the value at an RFC 6901 pointer begins, or 0. The text is valid JSON.
 */
int source_line(const struct source *source, const char *pointer);

/*
 * Parses one source: strict JSON, no duplicate keys. Returns a new reference, or NULL with `e`
 * filled.
 */
json_t *source_parse(const struct source *source, struct error *e);

/*
 * Reads every *.json below `folder`, but for those below `schema/`; links are followed. What cannot
 * be looked into is an error. 0, or a negative errno with `e` filled. Free with sources_free().
 */
int sources_read(struct sources *out, const char *folder, struct error *e);

/* Reads one file as a source of its own. 0, or a negative errno with `e` filled. */
int sources_read_file(struct sources *out, const char *path, struct error *e);

void sources_free(struct sources *s);

/*
 * A whole file, - for standard input, with a NUL behind it; NULL with errno set if it cannot be
 * read or has more than `max` bytes. free() it.
 */
char *text_read(const char *path, size_t *size, size_t max);

#endif
