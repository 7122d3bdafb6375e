/* SPDX-License-Identifier: MIT */
/*
 * The order of the page: what machines disagree about, and what some skip, each since which kernel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "page/table.h"

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
typedef unsigned (*aspect_fn)(const struct column *column, const struct saying *saying);

static unsigned verdict_of(const struct column *column, const struct saying *saying)
{
	(void)column;
	return saying->is_judged ? saying->verdict : 0;
}

static unsigned presence_of(const struct column *column, const struct saying *saying)
{
	enum { RUNS = 1, SKIPPED = 2 };

	if (saying->is_judged)
		return RUNS;
	return saying->verdict && column->judges ? SKIPPED : 0;
}

static unsigned mask_in(const struct row *row, const struct column *column, aspect_fn aspect)
{
	return aspect(column, &sayings[row->said[column->number]]);
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

static void settle_row(const struct table *table, struct row *row)
{
	row->differs = newest_difference(table, row, verdict_of);
	row->partial = newest_difference(table, row, presence_of);
}

/* 0, which is none, comes last. */
static int compare_places(unsigned a, unsigned b)
{
	if (!a != !b)
		return a ? -1 : 1;
	return a == b ? 0 : a < b ? -1 : 1;
}

/* Less than 0: `a` comes first. Who disagrees comes before who skips. */
static int compare_differences(const struct row *a, const struct row *b)
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
		order = compare_differences(a, b);
	return order ? order : strcmp(a->id, b->id);
}

/* A group in the making: its rows, the first of which differs the most. */
struct part {
	const struct row *first;
	size_t count;
};

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	int order = compare_differences(a->first, b->first);

	return order ? order : strcmp(a->first->suite, b->first->suite);
}

/* The rows, which stand by suites, in the order of these parts. */
static int place_parts(struct table *table, const struct part *parts, size_t count)
{
	struct row *rows = calloc(table->row_count + 1, sizeof(*rows));
	size_t at = 0;

	table->groups = calloc(count + 1, sizeof(*table->groups));
	if (!rows || !table->groups) {
		free(rows);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		memcpy(&rows[at], parts[i].first, parts[i].count * sizeof(*rows));
		table->groups[i] = (struct group){.first = at, .end = at + parts[i].count};
		at += parts[i].count;
	}
	table->group_count = count;
	free(table->rows);
	table->rows = rows;
	table->row_capacity = table->row_count + 1;
	return 0;
}

static int settle_groups(struct table *table)
{
	struct part *parts = calloc(table->row_count + 1, sizeof(*parts));
	size_t count = 0;
	int err;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < table->row_count; i++) {
		const struct row *row = &table->rows[i];

		if (!count || strcmp(parts[count - 1].first->suite, row->suite) != 0)
			parts[count++].first = row;
		parts[count - 1].count++;
	}
	qsort(parts, count, sizeof(*parts), compare_parts);
	err = place_parts(table, parts, count);
	free(parts);
	return err;
}

int table_settle(struct table *table)
{
	settle_columns(table);
	for (size_t i = 0; i < table->row_count; i++)
		settle_row(table, &table->rows[i]);
	if (table->row_count)
		qsort(table->rows, table->row_count, sizeof(*table->rows), compare_in_suites);
	json_decref(table->ids); /* its indices are those from before */
	table->ids = NULL;
	return settle_groups(table);
}
