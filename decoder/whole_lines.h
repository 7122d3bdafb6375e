/* SPDX-License-Identifier: MIT */
/*
 * Between a decoder, which hands out a long line in pieces, and a sink that takes whole lines.
 */
#ifndef PERFABI_WHOLE_LINES_H
#define PERFABI_WHOLE_LINES_H

#include <stddef.h>

struct whole_lines {
	int (*sink)(void *context, const char *text, size_t size);
	void *context;
	char *begun; /* the line that has no end yet */
	size_t size, capacity;
};

/* A sink. Hands on all lines that are whole now; 0, -ENOMEM or what the sink behind it returned. */
int whole_lines_put(void *whole_lines, const char *text, size_t size);

/* What has no end yet is dropped. */
void whole_lines_free(struct whole_lines *lines);

#endif
