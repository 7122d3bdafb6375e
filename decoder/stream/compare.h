/* SPDX-License-Identifier: MIT */
/*
 * --expect: the lines that come out against those in a file, and the first difference.
 */
#ifndef PERFABI_COMPARE_H
#define PERFABI_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct compare {
	FILE *expected;
	const char *name; /* of that file */
	char *got, *want; /* the line so far, and the expected one */
	size_t got_size, got_capacity, want_capacity;
	size_t line; /* from 1 */
	bool differs;
	int err; /* of reading that file, a negative errno, or 0 */
};

/* 0 or a negative errno. */
int compare_open(struct compare *c, const char *path);

/* A sink for perfabi_decode(); ends it with -ECANCELED at the first difference, which it has
 * printed. */
int compare_text(void *compare, const char *text, size_t size);

/* 1 if all was as expected, 0 if not: says what is missing at the end. Or a negative errno. */
int compare_end(struct compare *c);
void compare_close(struct compare *c);

#endif
