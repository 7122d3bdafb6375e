/* SPDX-License-Identifier: MIT */
/*
 * The lines of perfabi-decode as one page: each record's bytes beside its JSON, which record.js
 * colours by member.
 */
#ifndef PERFABI_ANATOMY_H
#define PERFABI_ANATOMY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "text/out.h"

/* What of a recording a page has at most, but for the lines that may be asked for. */
enum { ANATOMY_LINES = 1000, ANATOMY_BYTES = 32 << 20, ANATOMY_RECORD_BYTES = 4096 };

struct anatomy {
	FILE *f;           /* the page */
	int fd;            /* the recording */
	const char *title; /* the caller's */
	uint64_t limit;    /* lines behind the header's */
	/* What was taken: */
	uint64_t lines, bytes;
	bool has_errors;  /* a diagnostic of grade error is among them */
	bool is_ring;     /* whose records have no place in the file */
	bool is_cut;      /* there is more than the page has */
	struct out line;  /* the line that comes, as far as it came */
	const char *rest; /* of the template, behind the lines */
};

/*
 * Writes the beginning of the page. What cannot be written stays an error of `f`. anatomy_end()
 * ends it, whatever came.
 */
void anatomy_begin(struct anatomy *a, FILE *f, int fd, const char *title, uint64_t limit);

/*
 * A sink for perfabi_decode() with the option `bytes`; `context` is the anatomy. -ECANCELED once
 * the page has what it may have, and -ENOMEM.
 */
int anatomy_text(void *context, const char *text, size_t size);

void anatomy_end(struct anatomy *a);

#endif
