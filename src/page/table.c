/* SPDX-License-Identifier: MIT */
/*
 * Columns and rows, as reports are taken.
 */
#include "page/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	free(table->groups);
	*table = (struct table){0};
}

/* "6.18.44-fc" as 6 18 44, and behind it how far it is: a release candidate comes before all. */
static void parse_version(const char *text, json_int_t version[VERSION_NUMBERS])
{
	enum { RELEASED = 1 << 20, DIGITS = 9 };
	const char *candidate;
	size_t n = 0;

	memset(version, 0, VERSION_NUMBERS * sizeof(*version));
	for (; n < VERSION_NUMBERS - 1 && *text >= '0' && *text <= '9'; n++) {
		for (int i = 0; i < DIGITS && *text >= '0' && *text <= '9'; i++)
			version[n] = version[n] * 10 + (*text++ - '0');
		if (*text != '.')
			break;
		text++;
	}
	candidate = strstr(text, "-rc");
	version[VERSION_NUMBERS - 1] = candidate ? strtol(candidate + 3, NULL, 10) : RELEASED;
}

int table_add_column(struct table *table, json_t *about)
{
	struct column *column;

	if (!table->columns)
		table->columns = or_exit(calloc(COLUMNS_MAX, sizeof(*table->columns)));
	if (table->column_count == COLUMNS_MAX) {
		json_decref(about);
		return -E2BIG;
	}
	column = &table->columns[table->column_count];
	column->about = about;
	column->name = member_text(about, "name");
	column->kernel = member_text(about, "kernel");
	column->machine = member_text(about, "machine");
	column->number = (unsigned)table->column_count++;
	parse_version(json_object_get(about, "upstream") ? member_text(about, "upstream")
							 : column->kernel,
		      column->version);
	return 0;
}

/* The members of a result that are the same wherever the case runs. */
static const char *const about_keys[] = {"id",      "suite", "title", "place", "as",
					 "vehicle", "kind",  "spec",  NULL};
/* Those that the case's run has made; the outcome is first. */
static const char *const detail_keys[] = {"outcome",    "call",  "expected", "got",  "phases",
					  "capability", "token", "reason",   "runs", "differed",
					  "deviation",  "whose", NULL};

static json_t *members(const json_t *from, const char *const keys[])
{
	json_t *some = json_object();

	for (size_t i = 0; keys[i]; i++)
		if (json_object_get(from, keys[i]))
			json_object_set(some, keys[i], json_object_get(from, keys[i]));
	return some;
}

/* A case without a suite, as one of whose run only its beginning was told, goes by its id. */
static void settle_suite(json_t *about)
{
	const char *id = member_text(about, "id"), *dot = strrchr(id, '.');

	if (!member_text(about, "suite")[0])
		json_object_set_new(about, "suite",
				    json_stringn(id, dot ? (size_t)(dot - id) : strlen(id)));
}

static void set_about(struct row *row, json_t *about)
{
	settle_suite(about);
	json_decref(row->about);
	row->about = about;
	row->id = member_text(about, "id");
	row->suite = member_text(about, "suite");
}

static struct row *new_row(struct table *table, const json_t *result)
{
	struct row *row;

	if (table->row_count == table->row_capacity) {
		table->row_capacity = table->row_capacity ? 2 * table->row_capacity : 1024;
		table->rows = or_exit(realloc(table->rows, table->row_capacity * sizeof(*row)));
	}
	row = &table->rows[table->row_count];
	*row = (struct row){.details = json_object()};
	set_about(row, members(result, about_keys));
	memset(row->said, SAYS_NOTHING, sizeof(row->said));
	for (size_t i = 0; i < COLUMNS_MAX; i++)
		row->detail[i] = DETAIL_NONE;
	json_object_set_new(table->ids, row->id, json_integer((json_int_t)table->row_count++));
	return row;
}

/* The row of a result's case. */
static struct row *row_of(struct table *table, const json_t *result)
{
	const json_t *index;
	struct row *row;

	if (!table->ids)
		table->ids = json_object();
	index = json_object_get(table->ids, member_text(result, "id"));
	if (!index)
		return new_row(table, result);
	row = &table->rows[json_integer_value(index)];
	/* The first report that says what the case is about counts. */
	if (!json_object_get(row->about, "title") && json_object_get(result, "title"))
		set_about(row, members(result, about_keys));
	return row;
}

/* The index of a detail among those of the row: equal ones have the same. */
static int16_t take_detail(struct row *row, const json_t *result)
{
	json_t *detail = members(result, detail_keys), *known;
	char *text = or_exit(json_text(detail, JSON_COMPACT));
	size_t index;

	known = json_object_get(row->details, text);
	index = known ? (size_t)json_integer_value(known) : json_object_size(row->details);
	if (!known)
		json_object_set_new(row->details, text, json_integer((json_int_t)index));
	json_decref(detail);
	free(text);
	return (int16_t)index;
}

/* A capability's case passes whatever its answer is: the answer says more. */
static unsigned char said_by(const json_t *result, enum outcome outcome)
{
	const char *answer = member_text(result, "capability");

	for (unsigned said = SAYS_YES; outcome == PASS && said <= SAYS_DENIED; said++)
		if (!strcmp(answer, verdict_kinds[said].word))
			return (unsigned char)said;
	return (unsigned char)outcome;
}

int table_add_result(struct table *table, const json_t *result, enum outcome outcome)
{
	size_t number = table->column_count - 1;
	struct row *row = row_of(table, result);

	if (row->detail[number] != DETAIL_NONE)
		return -EEXIST;
	row->said[number] = said_by(result, outcome);
	table->columns[number].judges |= verdict_kinds[row->said[number]].is_judged;
	row->detail[number] = take_detail(row, result);
	return 0;
}

/*
 * The order of the page: what machines disagree about, and what some skip, each since which kernel.
 */

static int compare_versions(const struct column *a, const struct column *b)
{
	for (size_t i = 0; i < VERSION_NUMBERS; i++)
		if (a->version[i] != b->version[i])
			return a->version[i] < b->version[i] ? -1 : 1;
	return 0;
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

void table_settle(struct table *table)
{
	size_t count = table->row_count;
	struct group *groups = or_exit(calloc(count + 1, sizeof(*groups)));
	struct row *rows = table->rows;

	settle_columns(table);
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
	table->groups = groups;
	for (size_t i = 0; i < count; i++) {
		if (!i || strcmp(rows[i - 1].suite, rows[i].suite) != 0)
			groups[table->group_count++].first = i;
		groups[table->group_count - 1].end = i + 1;
	}
	json_decref(table->ids); /* its indices are those from before */
	table->ids = NULL;
}
