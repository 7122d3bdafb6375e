/* SPDX-License-Identifier: MIT */
/*
 * The order of the page: what machines disagree about, and what some skip, each since which kernel.
 */
#include "page/page.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "machine/version.h"
#include "text/json_text.h"

enum { SKIPPED = 1, IS_KEPT = 2, IS_NOT_THERE = 4 }; /* verdicts; each other has a bit of its own */

const struct verdict_kind verdict_kinds[SAIDS] = {
	[PASS] = {'p', "pass", true, IS_KEPT},
	[FAIL] = {'f', "fail", true, 8},
	[SKIP] = {'s', "skip", false, SKIPPED},
	[XFAIL] = {'x', "xfail", true, 16},
	[XPASS] = {'X', "xpass", true, 32},
	[UNSTABLE] = {'u', "unstable", true, 128},
	[ERROR] = {'e', "error", true, 64},
	[SAYS_YES] = {'y', "yes", true, IS_KEPT},
	[SAYS_NO] = {'n', "no", true, IS_NOT_THERE},
	[SAYS_DENIED] = {'d', "denied", true, IS_NOT_THERE},
	[SAYS_NOTHING] = {'.', "", false, 0}};

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++)
		json_decref(table->columns[i].about);
	for (size_t i = 0; i < table->row_count; i++) {
		json_decref(table->rows[i].about);
		json_decref(table->rows[i].details);
	}
	json_decref(table->ids);
	free(table->columns);
	free(table->rows);
	*table = (struct table){0};
}

/* A release candidate comes before all that is of its version. */
static int compare_versions(const struct column *a, const struct column *b)
{
	const char *of_a = strstr(a->version, "-rc"), *of_b = strstr(b->version, "-rc");
	long x = of_a ? strtol(of_a + 3, NULL, 10) : LONG_MAX;
	long y = of_b ? strtol(of_b + 3, NULL, 10) : LONG_MAX;
	int order = abi_version_compare(a->version, b->version);

	return order ? order : (x > y) - (x < y);
}

/* Newest kernel first; of one kernel by machine, and of one kind of machine by name. */
static int compare_columns(const void *left, const void *right)
{
	const struct column *a = left, *b = right;
	int order = -compare_versions(a, b);

	if (!order)
		order = strcmp(a->machine, b->machine);
	if (!order)
		order = strcmp(a->name, b->name);
	if (!order)
		order = strcmp(a->kernel, b->kernel);
	return order ? order : a->number < b->number ? -1 : 1;
}

static void settle_columns(struct table *table)
{
	struct column *columns = table->columns;
	size_t n = table->column_count;

	if (n)
		qsort(columns, n, sizeof(*columns), compare_columns);
	table->kernel_count = n ? 1 : 0;
	for (size_t i = 1; i < n; i++) {
		if (compare_versions(&columns[i - 1], &columns[i]))
			table->kernel_count++;
		columns[i].kernel_rank = (unsigned)table->kernel_count - 1;
	}
	/* At most COLUMNS_MAX of them: whatever is looked through is short. */
	for (size_t i = 0; i < n; i++) {
		columns[i].older = -1;
		for (size_t j = n; j-- > i + 1;)
			if (columns[j].kernel_rank > columns[i].kernel_rank &&
			    !strcmp(columns[j].machine, columns[i].machine) &&
			    (columns[i].older < 0 ||
			     columns[j].kernel_rank <= columns[columns[i].older].kernel_rank))
				columns[i].older = (int)j;
	}
}

/* What tells the reports of one machine apart, in the order in which it is said. */
static const struct {
	const char *key, *before;
} apart[] = {{"bits", "bits "},         {"uid", "uid "}, {"capabilities", "capabilities "},
	     {"paranoid", "paranoid "}, {"time", ""},    {"file", ""}};
enum { APART = sizeof(apart) / sizeof(apart[0]), BY_FILE = 1 << (APART - 1) };

static bool is_same_machine(const struct column *a, const struct column *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->kernel, b->kernel) &&
	       !strcmp(a->machine, b->machine);
}

/* A bit for each thing that tells them apart. */
static unsigned differences(const struct column *a, const struct column *b)
{
	unsigned differ = 0;

	for (unsigned i = 0; i < APART; i++) {
		const json_t *x = json_object_get(a->about, apart[i].key);
		const json_t *y = json_object_get(b->about, apart[i].key);

		differ |= x != y && !json_equal(x, y) ? 1U << i : 0;
	}
	return differ;
}

bool column_is_same_run(const struct column *a, const struct column *b)
{
	return is_same_machine(a, b) && !(differences(a, b) & ~(unsigned)BY_FILE);
}

/* "uid 0, paranoid 2". The file tells them apart where nothing else does. */
static void note_column(const struct column *column, unsigned differ)
{
	char *note = NULL;
	size_t size = 0;
	FILE *f = or_exit(open_memstream(&note, &size));
	const char *before = "";

	for (unsigned i = 0; i < APART; i++) {
		const json_t *value = json_object_get(column->about, apart[i].key);
		const char *text = json_string_value(value);

		if (!(differ >> i & 1) || (1 << i == BY_FILE && before[0]))
			continue;
		fprintf(f, "%s%s", before, apart[i].before);
		before = ", ";
		if (json_is_integer(value))
			fprintf(f, "%lld", (long long)json_integer_value(value));
		else
			fputs(text ? text : "not known", f);
	}
	fclose(f);
	json_object_set_new(column->about, "note", json_string(or_exit(note)));
	free(note);
}

/* Columns of one machine, which stand together, have a "note": in what they differ. */
static void note_columns(struct table *table)
{
	struct column *end = table->columns + table->column_count, *next;

	for (struct column *first = table->columns; first < end; first = next) {
		unsigned differ = 0;

		for (next = first + 1; next < end && is_same_machine(next, first); next++)
			differ |= differences(first, next);
		for (struct column *column = first; next - first > 1 && column < next; column++)
			note_column(column, differ);
	}
}

/* What there is to differ in, as a mask of what a column says of it; 0: it is passed over. */
typedef unsigned (*aspect_fn)(const struct column *column, const struct verdict_kind *kind);

static unsigned verdict_of(const struct column *column, const struct verdict_kind *kind)
{
	(void)column;
	return kind->is_judged ? kind->verdict : 0;
}

static unsigned presence_of(const struct column *column, const struct verdict_kind *kind)
{
	enum { RUNS = 1, DOES_NOT_RUN = 2 };

	if (kind->is_judged)
		return RUNS;
	return kind->verdict && column->judges ? DOES_NOT_RUN : 0;
}

static unsigned mask_in(const struct row *row, const struct column *column, aspect_fn aspect)
{
	return aspect(column, &verdict_kinds[row->said[column->number]]);
}

/* The mask of the columns from `at` on that are of its kernel and kind of machine. */
static unsigned mask_at(const struct table *table, const struct row *row, int at, aspect_fn aspect)
{
	const struct column *first = &table->columns[at], *column = first;
	unsigned mask = 0;

	for (; column < table->columns + table->column_count; column++) {
		if (column->kernel_rank != first->kernel_rank ||
		    strcmp(column->machine, first->machine) != 0)
			break;
		mask |= mask_in(row, column, aspect);
	}
	return mask;
}

static bool is_first_of_kind(const struct table *table, size_t i)
{
	const struct column *column = &table->columns[i];

	return !i || column[-1].kernel_rank != column->kernel_rank ||
	       strcmp(column[-1].machine, column->machine) != 0;
}

static bool is_several(unsigned mask)
{
	return (mask & (mask - 1)) != 0;
}

/*
 * The newest kernel that differs from the one before it on the same kind of machine, from 1; where
 * only machines of one kernel differ, behind all of these; 0: nothing differs. A machine that is
 * passed over is as if it were not there.
 */
static unsigned newest_difference(const struct table *table, const struct row *row,
				  aspect_fn aspect)
{
	unsigned all = 0;

	for (size_t i = 0; i < table->column_count; i++)
		all |= mask_in(row, &table->columns[i], aspect);
	if (!is_several(all))
		return 0;
	for (size_t i = 0; i < table->column_count; i++) {
		unsigned here =
			is_first_of_kind(table, i) ? mask_at(table, row, (int)i, aspect) : 0;
		unsigned before = 0;
		int older = table->columns[i].older;

		for (; here && older >= 0 && !before; older = table->columns[older].older)
			before = mask_at(table, row, older, aspect);
		if (here && before && here != before)
			return table->columns[i].kernel_rank + 1;
	}
	return (unsigned)table->kernel_count + 1;
}

/* 0, which is none, comes last. */
static int compare_places(unsigned a, unsigned b)
{
	if (!a != !b)
		return a ? -1 : 1;
	return a == b ? 0 : a < b ? -1 : 1;
}

/* Less than 0: `a` comes first. Who disagrees comes before who skips. */
static int compare_differences(const struct difference *a, const struct difference *b)
{
	if (a->differs || b->differs)
		return compare_places(a->differs, b->differs);
	return compare_places(a->partial, b->partial);
}

static int compare_in_suites(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = strcmp(a->suite, b->suite);

	if (!order)
		order = compare_differences(&a->own, &b->own);
	return order ? order : strcmp(a->id, b->id);
}

/* By suites, of which the one whose first row differs the most comes first. */
static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = compare_differences(&a->of_suite, &b->of_suite);

	return order ? order : compare_in_suites(left, right);
}

size_t table_suite_end(const struct table *table, size_t first)
{
	size_t end = first + 1;

	while (end < table->row_count && !strcmp(table->rows[first].suite, table->rows[end].suite))
		end++;
	return end;
}

void table_settle(struct table *table)
{
	size_t count = table->row_count;
	struct row *rows = table->rows;

	settle_columns(table);
	note_columns(table);
	for (size_t i = 0; i < count; i++)
		rows[i].own = (struct difference){newest_difference(table, &rows[i], verdict_of),
						  newest_difference(table, &rows[i], presence_of)};
	if (count)
		qsort(rows, count, sizeof(*rows), compare_in_suites);
	for (size_t i = 0; i < count; i++)
		rows[i].of_suite = i && !strcmp(rows[i - 1].suite, rows[i].suite)
					   ? rows[i - 1].of_suite
					   : rows[i].own;
	if (count)
		qsort(rows, count, sizeof(*rows), compare_rows);
	json_decref(table->ids); /* its indices are those from before */
	table->ids = NULL;
}
