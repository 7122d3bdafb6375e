/* SPDX-License-Identifier: MIT */
/*
 * Reports of several machines as one page of HTML. The table behind it has a row for each case, a
 * column for each report, and what each report says of each case. Reports are taken one by one, and
 * let go.
 */
#ifndef PERFABI_PAGE_H
#define PERFABI_PAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "language/verdict.h"
#include "text/error.h"

enum { COLUMNS_MAX = 256, DETAIL_NONE = -1 };

/* What a report says of a case: an outcome; of a capability that passed, its answer; nothing. */
enum said { SAYS_YES = OUTCOMES, SAYS_NO, SAYS_DENIED, SAYS_NOTHING, SAIDS };

struct verdict_kind {
	char letter;      /* in the page's JSON */
	const char *word; /* in its plain table */
	bool is_judged;   /* somebody has judged the case */
	unsigned verdict; /* a bit: who says the same of the kernel has the same */
};

extern const struct verdict_kind verdict_kinds[SAIDS];

/* One report: a machine, and who ran perfabi on it. */
struct column {
	json_t *about;       /* an object of texts and numbers: what the page says of it; owned */
	const char *name;    /* the machine's, of `about`; or its file's */
	const char *kernel;  /* the release, of `about`; "" if it is not known */
	const char *machine; /* as uname -m has it, of `about`; "" likewise */
	const char *version; /* that the kernel goes by: upstream's, or its own */
	unsigned number;     /* among the reports as they were given, from 0 */
	bool judges;         /* some case: a kernel without perf skips them all */
	/* Once it is settled: */
	unsigned kernel_rank; /* 0: of the newest kernel in the table, 1: of the one before */
	int older; /* the first column of the next older kernel on such a machine, or -1 */
};

/* 0: nowhere; 1: the newest kernel from the one before; and so on */
struct difference {
	unsigned differs; /* those that judge a case disagree */
	unsigned partial; /* some judge it, and some skip it that judge another */
};

/* What reports say of one case. */
struct row {
	json_t *about; /* what every machine has the same of it: id, suite, title, spec; owned */
	const char *id, *suite; /* of `about` */
	json_t *details; /* an object: what a report says, as the text of JSON, to its index; owned
			  */
	/* By column's number; the index is -1 and `said` SAYS_NOTHING where it says nothing. */
	int16_t detail[COLUMNS_MAX];
	unsigned char said[COLUMNS_MAX]; /* enum said */
	/* Once it is settled; that of the suite is its first row's. */
	struct difference own, of_suite;
};

struct table {
	struct column *columns;
	size_t column_count;
	struct row *rows;
	size_t row_count, row_capacity;
	json_t *ids; /* id to index of the row, before it is settled */
	size_t kernel_count;
};

/* All zero is an empty table. */
void table_free(struct table *table);

/* The end of the rows from `first` on that are of one suite. */
size_t table_suite_end(const struct table *table, size_t first);

/* Whether two reports are of one run: nothing that tells two apart differs but the file. */
bool column_is_same_run(const struct column *a, const struct column *b);

/*
 * Puts columns and rows in the order of the page: kernels from the newest on; first what
 * those judge differently that judge it, then what some skip, of each the newest difference before
 * others; then by name. What tells the reports of one machine apart becomes the "note" of `about`.
 */
void table_settle(struct table *table);

/*
 * Reads the report in the file `path` (- is standard input) into the table. 0 or a negative errno
 * with `e` filled.
 */
int page_read(struct table *table, const char *path, struct error *e);

/*
 * Writes the page of a table that was settled (table_settle()). The same table makes the same
 * bytes. `title` may be NULL. Errors stay on the stream.
 */
void page_write(FILE *f, const struct table *table, const char *title);

#endif
