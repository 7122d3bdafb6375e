/* SPDX-License-Identifier: MIT */
/*
 * A recording that is a directory: its file `data`, and data.0, data.1, ... with more records.
 */
#ifndef PERFABI_PARTS_H
#define PERFABI_PARTS_H

#include <stdbool.h>
#include <stddef.h>

struct parts {
	int dir;           /* -1: it is none */
	unsigned *numbers; /* ascending */
	size_t count, capacity, next;
	int fd; /* of the part that is read now, or of `data`; -1: none */
};

/*
 * Opens `data` of the directory, whose descriptor stays the caller's, in parts->fd. 0 or a negative
 * errno; close with parts_close() in any case.
 */
int parts_open(struct parts *parts, int dir);

/* Opens the next one instead. 1, 0 if there is none, or a negative errno. */
int parts_next(struct parts *parts);
void parts_close(struct parts *parts);

/* Whether a file that was opened as such has a data.0 beside it, as far as /proc tells. */
bool parts_beside(int fd);

#endif
