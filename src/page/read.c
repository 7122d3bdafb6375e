/* SPDX-License-Identifier: MIT */
/*
 * A report into the table: its machine as a column, its results into the rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/environment.h"
#include "page/page.h"
#include "report/file.h"
#include "text/arena.h"
#include "text/json_text.h"
#include "text/say.h"

/* A report as it is read. */
struct reading {
	struct table *table;
	const char *path;
	struct error *e;
};

/* "callers": whom perfabi could be there. */
static json_t *callers_of(const json_t *head)
{
	const json_t *identities =
		json_object_get(json_object_get(head, "environment"), "identities");
	json_t *list = json_array();

	for (enum identity as = 0; as < IDENTITIES; as++)
		if (environment_opens(identities, as))
			json_array_append_new(list, json_string(identity_names[as]));
	return list;
}

/* What somebody copies into a shell is perfabi, and nothing in it does more than stand there. */
static bool is_safe(const json_t *words)
{
	static const char *const first[] = {"perfabi", "run"};
	const json_t *word;
	size_t i;

	json_array_foreach(words, i, word) {
		const char *text = json_string_value(word);

		if (!one_line(text) || (i < 2 && strcmp(text, first[i]) != 0))
			return false;
	}
	return json_array_size(words) >= 2;
}

/* "again": the words that run a case again. A report from before perfabi told them has the first.
 */
static int copy_again(json_t *about, const json_t *head, const struct where *w, struct error *e)
{
	json_t *words = json_object_get(head, "again"), *word;
	bool is_right = !words || json_is_array(words);
	size_t i;

	json_array_foreach(words, i, word)
		is_right = is_right && json_is_string(word);
	if (!is_right)
		return error_value(e, AT_KEY(w, "again"), words, "a list of words");
	if (!words)
		json_object_set_new(about, "again", json_pack("[s, s]", "perfabi", "run"));
	else if (is_safe(words))
		json_object_set(about, "again", words);
	return 0;
}

/* Where a file lies is nobody's business but its owner's. */
static const char *name_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* A report without a host's name is called by its file. */
static void settle_name(json_t *about, const char *path)
{
	const char *name = name_of_file(path), *dot = strrchr(name, '.');
	json_t *text;

	if (json_object_get(about, "name"))
		return;
	text = json_stringn(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
	json_object_set_new(about, "name", text ? text : json_string("a report")); /* no UTF-8 */
}

static int add_column(struct table *table, json_t *about)
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
	column->version = json_object_get(about, "upstream") ? member_text(about, "upstream")
							     : column->kernel;
	return 0;
}

/* The members of a result that are the same wherever the case runs. */
static const char *const about_keys[] = {"id",      "suite", "title", "place", "as",
					 "vehicle", "kind",  "spec",  NULL};
/* Those that the case's run has made; the outcome is first. */
static const char *const detail_keys[] = {"outcome",    "call",      "expected", "got",  "phases",
					  "capability", "token",     "reason",   "runs", "differed",
					  "tried",      "deviation", "whose",    NULL};

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

	if (list_grow(&table->rows, table->row_count, &table->row_capacity, sizeof(*row)))
		or_exit(NULL);
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

static int add_result(void *context, const json_t *result, enum outcome outcome)
{
	struct table *table = ((struct reading *)context)->table;
	size_t number = table->column_count - 1;
	struct row *row = row_of(table, result);

	row->said[number] = said_by(result, outcome);
	table->columns[number].judges |= verdict_kinds[row->said[number]].is_judged;
	row->detail[number] = take_detail(row, result);
	return 0;
}

/* Two reports of one run are one too many. */
static int check_is_new(const struct reading *r, const struct where *w, const json_t *head)
{
	const struct column *last = &r->table->columns[r->table->column_count - 1];

	for (const struct column *column = r->table->columns; column < last; column++)
		if (column_is_same_run(column, last)) {
			const char *file =
				json_string_value(json_object_get(column->about, "file"));

			return error_value(r->e, AT_KEY(w, "time"), json_object_get(head, "time"),
					   "another run than that of %s",
					   file ? file : "a report before it");
		}
	return 0;
}

static int add_report(void *context, const json_t *head, const struct where *w)
{
	struct reading *r = context;
	json_t *about = report_about(head, w, r->e), *file;

	if (!about || copy_again(about, head, w, r->e)) {
		json_decref(about);
		return -EINVAL;
	}
	json_object_set_new(about, "callers", callers_of(head));
	settle_name(about, r->path);
	file = json_string(name_of_file(r->path));
	if (file) /* its name may be no UTF-8 */
		json_object_set_new(about, "file", file);
	if (add_column(r->table, about))
		return error_value(r->e, w, head, "at most %d reports", COLUMNS_MAX);
	return check_is_new(r, w, head);
}

int page_read(struct table *table, const char *path, struct error *e)
{
	struct reading r = {.table = table, .path = path, .e = e};
	const struct report_sink sink = {.head = add_report, .result = add_result, .context = &r};
	bool has_end;
	int err = report_file_read(path, &sink, &has_end, e);

	if (!err && !has_end)
		json_object_set_new(table->columns[table->column_count - 1].about, "cut",
				    json_true());
	return err;
}
