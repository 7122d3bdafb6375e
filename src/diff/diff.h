/* SPDX-License-Identifier: MIT */
/*
 * What differs between two machines, or one machine at two times: of what perfabi run or perfabi
 * probe has written of each.
 */
#ifndef PERFABI_DIFF_H
#define PERFABI_DIFF_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "text/error.h"

/* What kind of file it is, by its members. */
enum diff_kind { DIFF_REPORT, DIFF_PROBE };

/*
 * One side. `answers` has an object for each case, or each capability and caller, by a key that is
 * the same on both sides:
 *
 *     {"topic": T, "title": T, "answer": "pass", "because": "what is known of it"}
 *
 * `facts` has the numbers that a probe tells, by key: {"topic", "title", "value"}.
 */
struct side {
	enum diff_kind kind;
	json_t *about; /* as the schema has it: texts and numbers, those that it has */
	json_t *answers, *facts;
	bool has_end; /* false: the run was ended, its machine died, or the file is cut */
};

void side_free(struct side *side);

/*
 * Reads a file (- is standard input). Cases that the run has not reached are no answers; they are
 * counted. 0, or a negative errno with `e` filled.
 */
int side_read(struct side *side, const char *path, struct error *e);

/*
 * What differs, as JSON (cases/schema/diff.schema.json): what is worse in B, what is better, what
 * is otherwise different, what one of them alone has, facts. Each list goes by topic, answer or
 * change, reason and id.
 */
json_t *diff_sides(const struct side *a, const struct side *b);

/*
 * How many entries of one list (as "worse") are alike from the i-th on: they have the same topic,
 * answer or change, and reason. At least 1.
 */
size_t diff_alike(const json_t *list, size_t i);

/*
 * Writes it for a terminal, or in Markdown for a merge request. What is alike is one line, unless
 * `is_long`.
 */
void diff_text(const json_t *diff, bool is_long, FILE *f);
void diff_markdown(const json_t *diff, bool is_long, FILE *f);

#endif
