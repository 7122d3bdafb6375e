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

/*
 * Reads one side from a file (- is standard input): {"type": "report" or "probe", "about": {...},
 * "answers": {...}, "facts": {...}}. `about` is as the schema has it. `answers` has an object for
 * each case, or each capability and caller, by a key that is the same on both sides:
 *
 *     {"topic": T, "title": T, "answer": "pass", "because": "what is known of it"}
 *
 * `facts` has the numbers that a probe tells, by key: {"topic", "title", "value"}. Cases that the
 * run has not reached are no answers; they are counted. A new reference; NULL with `e` filled.
 */
json_t *side_read(const char *path, struct error *e);

/*
 * What differs, as JSON (cases/schema/diff.schema.json): what is worse in B, what is better, what
 * is otherwise different, what one of them alone has, facts. Each list goes by topic, answer or
 * change, reason and id.
 */
json_t *diff_sides(const json_t *a, const json_t *b);

/*
 * How many entries of one list (as "worse") are alike from the i-th on: they have the same topic,
 * answer or change, and reason. At least 1; `most` are looked at.
 */
size_t diff_alike(const json_t *list, size_t i, size_t most);

/*
 * Writes it for a terminal, or in Markdown for a merge request. What is alike is one line, unless
 * `is_long`.
 */
void diff_text(const json_t *diff, bool is_long, FILE *f);
void diff_markdown(const json_t *diff, bool is_long, FILE *f);

#endif
