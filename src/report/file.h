/* SPDX-License-Identifier: MIT */
/*
 * Reads a report that perfabi run wrote, of --format json or jsonl.
 */
#ifndef PERFABI_REPORT_FILE_H
#define PERFABI_REPORT_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "language/verdict.h"
#include "text/error.h"

/*
 * Who is told of what a file has, in its order. Each returns 0, or a negative errno with the error
 * filled that was given to report_file_read(), which ends the reading.
 */
struct report_sink {
	/* Once, first: perfabi, cases, time, host, environment; and results, where it is one
	 * object. */
	int (*head)(void *context, const json_t *head, const struct where *w);
	/* Each result, of a case once. Its texts are texts, and `outcome` is that of its name. */
	int (*result)(void *context, const json_t *result, enum outcome outcome);
	/* A file of one object that has no results; NULL: that is an error. */
	int (*other)(void *context, const json_t *object, const struct where *w);
	void *context;
};

/*
 * Reads the file `path` (- is standard input). What had begun when a machine died is an error that
 * says so, and a line that it left cut is none. *has_end (may be NULL) is whether the run came to
 * its end. 0, or a negative errno with `e` filled.
 */
int report_file_read(const char *path, const struct report_sink *sink, bool *has_end,
		     struct error *e);

/*
 * What a report's head says of its machine and of who ran perfabi there: an object of texts and
 * numbers. A new reference; NULL with `e` filled if a text is none.
 */
json_t *report_about(const json_t *head, const struct where *w, struct error *e);

#endif
