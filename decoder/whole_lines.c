/* SPDX-License-Identifier: MIT */
/*
 * Nearly all text ends with a line, and is passed on as it is.
 */
#include "whole_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int keep(struct whole_lines *lines, const char *text, size_t size)
{
	if (lines->capacity - lines->size < size) {
		size_t capacity = lines->size + size + lines->size / 2;
		char *grown = realloc(lines->begun, capacity);

		if (!grown)
			return -ENOMEM;
		lines->begun = grown;
		lines->capacity = capacity;
	}
	memcpy(lines->begun + lines->size, text, size);
	lines->size += size;
	return 0;
}

/* The line that was begun, with its end. */
static int end_begun(struct whole_lines *lines, const char *text, size_t size)
{
	int err = keep(lines, text, size);

	if (!err)
		err = lines->sink(lines->context, lines->begun, lines->size);
	lines->size = 0;
	return err;
}

int whole_lines_put(void *whole_lines, const char *text, size_t size)
{
	struct whole_lines *lines = whole_lines;
	const char *last = memrchr(text, '\n', size);
	size_t whole = last ? (size_t)(last + 1 - text) : 0;
	int err = 0;

	if (whole && lines->size)
		err = end_begun(lines, text, whole);
	else if (whole)
		err = lines->sink(lines->context, text, whole);
	return err || whole == size ? err : keep(lines, text + whole, size - whole);
}

void whole_lines_free(struct whole_lines *lines)
{
	free(lines->begun);
}
