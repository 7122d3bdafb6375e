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
 * is otherwise different, what one of them alone has, facts. Each list goes by topic, then by key.
 */
json_t *diff_sides(const struct side *a, const struct side *b);

/* Writes it for a terminal: what is otherwise different is folded, unless `is_long`. */
void diff_text(const json_t *diff, bool is_long, FILE *f);

/* Writes it for a merge request. */
void diff_markdown(const json_t *diff, bool is_long, FILE *f);

/* One line of a list in which what has the same topic, answers and reason stands once. */
struct diff_group {
	const json_t *first; /* of those that it is about: by its id */
	size_t count;
};

/*
 * The entries of one list (as "worse"), each by itself, by topic, answer or change, reason and id.
 * `groups` has as many places as the list entries. Returns how many there are.
 */
size_t diff_sort(const json_t *list, struct diff_group *groups);

/* Whether two entries have the same topic, answer or change, and reason. */
bool diff_is_alike(const json_t *a, const json_t *b);

/*
 * The entries of one list (as "other"), folded; unless `is_long`, when each stands alone.
 * `groups` has as many places as the list entries. Returns how many there are.
 */
size_t diff_fold(const json_t *list, bool is_long, struct diff_group *groups);

/* What it counts: cases, or capabilities. */
const char *diff_noun(const json_t *diff, size_t count);

/* Whether an entry's reason is A's, for B has none: it is told as such. */
bool diff_is_of_a(const json_t *entry);

/* "6.18.44 x86_64, vm", cut to fit. */
void diff_name(const json_t *about, char *out, size_t size);

/* What follows from it that they had other case files; "" if they had the same. */
const char *diff_cases(const json_t *diff);

/* "3 worse, 1 better, ...; 2 the same": how many each list has, cut to fit. */
void diff_counts(const json_t *diff, char *out, size_t size);

/* What its run has not come to, as "the run has no end; 12 cases were not reached"; "" if nothing.
 */
void diff_end(const json_t *about, char *out, size_t size);

#endif
