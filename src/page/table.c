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

const struct saying sayings[SAIDS] = {[PASS] = {'p', "pass", true, IS_KEPT},
				      [FAIL] = {'f', "fail", true, 8},
				      [SKIP] = {'s', "skip", false, SKIPPED},
				      [XFAIL] = {'x', "xfail", true, 16},
				      [XPASS] = {'X', "xpass", true, 32},
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
		table->columns = calloc(COLUMNS_MAX, sizeof(*table->columns));
	if (!table->columns || table->column_count == COLUMNS_MAX) {
		json_decref(about);
		return table->columns ? -E2BIG : -ENOMEM;
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
		size_t capacity = table->row_capacity ? 2 * table->row_capacity : 1024;
		struct row *grown = realloc(table->rows, capacity * sizeof(*grown));

		if (!grown)
			return NULL;
		table->rows = grown;
		table->row_capacity = capacity;
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

/* The row of a result's case; NULL without memory. */
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
static int take_detail(struct row *row, const json_t *result, int16_t *index)
{
	json_t *detail = members(result, detail_keys), *known;
	char *text = json_text(detail, JSON_COMPACT);

	json_decref(detail);
	if (!text)
		return -ENOMEM;
	known = json_object_get(row->details, text);
	*index = (int16_t)(known ? (size_t)json_integer_value(known)
				 : json_object_size(row->details));
	if (!known)
		json_object_set_new(row->details, text, json_integer(*index));
	free(text);
	return 0;
}

/* A capability's case passes whatever its answer is: the answer says more. */
static unsigned char said_by(const json_t *result, enum outcome outcome)
{
	const char *answer = member_text(result, "capability");

	for (unsigned said = SAYS_YES; outcome == PASS && said <= SAYS_DENIED; said++)
		if (!strcmp(answer, sayings[said].word))
			return (unsigned char)said;
	return (unsigned char)outcome;
}

int table_add_result(struct table *table, const json_t *result, enum outcome outcome)
{
	size_t number = table->column_count - 1;
	struct row *row = row_of(table, result);

	if (!row)
		return -ENOMEM;
	if (row->detail[number] != DETAIL_NONE)
		return -EEXIST;
	row->said[number] = said_by(result, outcome);
	table->columns[number].judges |= sayings[row->said[number]].is_judged;
	return take_detail(row, result, &row->detail[number]);
}
