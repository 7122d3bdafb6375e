/* SPDX-License-Identifier: MIT */
/*
 * The texts below cases/, built into the program or read from a folder, and files read whole.
 */
#ifndef PERFABI_SOURCE_H
#define PERFABI_SOURCE_H

#include <dirent.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "text/error.h"

/* A list of sources, sorted by name. */
struct sources {
	struct source *list;
	size_t count;
	char *owned_root; /* NULL: built in */
};

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

/* The first of that name, or NULL. */
const struct source *sources_find(const struct sources *s, const char *name);

/*
 * A whole file, - for standard input, with a NUL behind it; NULL with errno set if it cannot be
 * read or has more than `max` bytes. free() it.
 */
char *text_read(const char *path, size_t *size, size_t max);

/* The same of a file below a folder. */
char *text_read_in(int folder, const char *path, size_t *size, size_t max);

/* A folder in a folder; NULL with errno set. closedir() it. */
DIR *folder_open_at(int folder, const char *name);

#endif
