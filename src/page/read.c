/* SPDX-License-Identifier: MIT */
/*
 * A report of perfabi run, of --format json or jsonl: its shape looked at, its results into the
 * table. What a newer perfabi may have beside is left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "language/verdict.h"
#include "page/page.h"
#include "text/source.h"

enum { REPORT_MOST = 1 << 30 };

/* A report as it is read. */
struct reading {
	struct table *table;
	const struct source *source; /* the whole file */
	const char *path;
	struct error *e;
	bool has_column, has_end;
	json_t *begun; /* of JSON Lines: cases that have begun and not ended */
};

static const char wanted[] = "a report of perfabi run --format json or jsonl";

/* 0 if every member there that is one of these is a text. */
static int check_member_texts(const json_t *object, const struct where *w, const char *const keys[],
			      struct error *e)
{
	for (size_t i = 0; keys[i]; i++) {
		const json_t *value = json_object_get(object, keys[i]);
		struct where at = where_key(w, keys[i]);

		if (value && !json_is_string(value) && !json_is_null(value))
			return error_value(e, &at, value, "a text");
	}
	return 0;
}

static int check_part(const json_t *object, const struct where *w, struct error *e)
{
	return !object || json_is_object(object) ? 0 : error_value(e, w, object, "an object");
}

/* What the page says of a machine: texts of the report's head under names of their own. */
static const struct {
	const char *part, *key, *as;
} facts[] = {{"host", "name", "name"},
	     {"environment", "kernel", "kernel"},
	     {"environment", "upstream", "upstream"},
	     {"environment", "machine", "machine"},
	     {"environment", "arch", "arch"},
	     {NULL, "time", "time"},
	     {NULL, "perfabi", "perfabi"},
	     {NULL, "cases", "cases"},
	     {"host", "distribution", "distribution"},
	     {"host", "cpu_model", "cpu_model"},
	     {"host", "options", "options"},
	     {"environment", "hypervisor", "hypervisor"},
	     {"environment", "container", "container"},
	     {"environment", "capabilities", "capabilities"}};

/* And numbers. */
static const char *const number_keys[] = {"bits",      "uid",         "page_size",
					  "attr_size", "cpus_online", NULL};

static int copy_fact(json_t *about, const json_t *head, const struct where *w, size_t i,
		     struct error *e)
{
	const json_t *part = facts[i].part ? json_object_get(head, facts[i].part) : head;
	struct where inside = facts[i].part ? where_key(w, facts[i].part) : *w;
	const char *const keys[] = {facts[i].key, NULL};
	json_t *value = json_object_get(part, facts[i].key);

	if (check_part(part, &inside, e) || check_member_texts(part, &inside, keys, e))
		return -EINVAL;
	if (json_is_string(value))
		json_object_set(about, facts[i].as, value);
	return 0;
}

/* "callers": whom perfabi could be there. */
static json_t *callers_of(const json_t *identities)
{
	static const char *const names[] = {"root", "perfmon", "sys-admin", "user", NULL};
	json_t *list = json_array();

	for (size_t i = 0; names[i]; i++) {
		const char *text = json_string_value(json_object_get(identities, names[i]));

		if (text && !strcmp(text, "opens events"))
			json_array_append_new(list, json_string(names[i]));
	}
	return list;
}

static void copy_numbers(json_t *about, const json_t *environment)
{
	const json_t *sysctls = json_object_get(environment, "sysctls");
	json_t *paranoid = json_object_get(sysctls, "perf_event_paranoid");

	for (size_t i = 0; number_keys[i]; i++)
		if (json_is_integer(json_object_get(environment, number_keys[i])))
			json_object_set(about, number_keys[i],
					json_object_get(environment, number_keys[i]));
	if (json_is_integer(paranoid))
		json_object_set(about, "paranoid", paranoid);
	json_object_set_new(about, "callers",
			    callers_of(json_object_get(environment, "identities")));
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
	json_object_set_new(about, "name", text ? text : json_string("a report"));
}

/* What tells two reports of one machine apart, in the order in which it is said. */
static const char *const apart[] = {"machine",  "bits", "uid", "capabilities",
				    "paranoid", "time", NULL};

static bool is_same_run(const struct column *a, const struct column *b)
{
	if (strcmp(a->name, b->name) != 0 || strcmp(a->kernel, b->kernel) != 0)
		return false;
	for (size_t i = 0; apart[i]; i++) {
		const json_t *x = json_object_get(a->about, apart[i]);
		const json_t *y = json_object_get(b->about, apart[i]);

		if (x != y && !json_equal(x, y))
			return false;
	}
	return true;
}

/* Two reports of one run are one too many. */
static int check_is_new(const struct reading *r, const struct where *w, const json_t *head)
{
	struct where at = where_key(w, "time");
	const struct column *last = &r->table->columns[r->table->column_count - 1];

	for (const struct column *column = r->table->columns; column < last; column++)
		if (is_same_run(column, last)) {
			const char *file =
				json_string_value(json_object_get(column->about, "file"));

			return error_value(r->e, &at, json_object_get(head, "time"),
					   "another run than that of %s",
					   file ? file : "a report before it");
		}
	return 0;
}

static int take_head(struct reading *r, const json_t *head, const struct where *w)
{
	const json_t *environment = json_object_get(head, "environment");
	json_t *about = json_object(), *file = json_string(name_of_file(r->path));
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(facts) / sizeof(facts[0]); i++)
		err = copy_fact(about, head, w, i, r->e);
	if (err) {
		json_decref(about);
		json_decref(file);
		return err;
	}
	copy_numbers(about, environment);
	settle_name(about, r->path);
	if (file)
		json_object_set_new(about, "file", file);
	err = table_add_column(r->table, about);
	if (err == -E2BIG)
		return error_value(r->e, w, head, "at most %d reports", COLUMNS_MAX);
	if (err)
		return error_no_memory(r->e, w, "a report");
	r->has_column = true;
	return check_is_new(r, w, head);
}

static int outcome_by_name(const char *name, struct nearest *near)
{
	for (int i = 0; i < OUTCOMES; i++) {
		if (!strcmp(outcome_names[i], name))
			return i;
		nearest_try(near, outcome_names[i]);
	}
	return -1;
}

static int check_result(const json_t *result, const struct where *w, struct error *e, int *outcome)
{
	static const char *const texts[] = {"title", "suite",    "place", "as",         "vehicle",
					    "kind",  "expected", "got",   "capability", "call",
					    "token", "reason",   NULL};
	const json_t *id = json_object_get(result, "id");
	const json_t *name = json_object_get(result, "outcome");
	struct where at_id = where_key(w, "id"), at_outcome = where_key(w, "outcome");
	struct where at_spec = where_key(w, "spec"), at_deviation = where_key(w, "deviation");
	struct nearest near;

	if (!json_is_object(result))
		return error_value(e, w, result, "an object: a case and what came of it");
	if (!json_string_length(id))
		return error_value(e, &at_id, id, "the id of a case");
	if (!json_is_string(name))
		return error_value(e, &at_outcome, name, "an outcome");
	near = nearest_to(json_string_value(name));
	*outcome = outcome_by_name(json_string_value(name), &near);
	if (*outcome < 0)
		return error_name(e, &at_outcome, json_string_value(name), near.best,
				  "an outcome: pass, fail, skip, xfail, xpass or error");
	if (check_member_texts(result, w, texts, e) ||
	    check_part(json_object_get(result, "spec"), &at_spec, e))
		return -EINVAL;
	return check_part(json_object_get(result, "deviation"), &at_deviation, e);
}

static int take_result(struct reading *r, const json_t *result, const struct where *w)
{
	int outcome = ERROR, err = check_result(result, w, r->e, &outcome);

	if (err)
		return err;
	err = table_add_result(r->table, result, (enum outcome)outcome);
	if (err == -EEXIST)
		return error_value(r->e, w, json_object_get(result, "id"),
				   "each case once in a report");
	return err ? error_no_memory(r->e, w, "a result") : 0;
}

static int read_whole(struct reading *r)
{
	struct where root = where_root(r->source), list = where_key(&root, "results");
	json_t *report = source_parse(r->source, r->e), *result;
	const json_t *results = json_object_get(report, "results");
	size_t i;
	int err;

	if (!report)
		return -EINVAL;
	if (!json_is_object(report) || !json_is_object(json_object_get(report, "environment")))
		err = error_value(r->e, &root, report, "%s", wanted);
	else if (!json_is_array(results))
		err = error_value(r->e, &list, results, "a list of results");
	else
		err = take_head(r, report, &root);
	json_array_foreach(results, i, result) {
		struct where at = where_index(&list, i);

		err = err ? err : take_result(r, result, &at);
	}
	r->has_end = !json_object_get(json_object_get(report, "summary"), "interrupted");
	json_decref(report);
	return err;
}

static const char *type_of_line(const json_t *line)
{
	const char *type = json_string_value(json_object_get(line, "type"));

	return type ? type : "";
}

static int take_report_line(struct reading *r, const json_t *line, const struct where *w)
{
	const char *type = type_of_line(line), *id = json_string_value(json_object_get(line, "id"));

	if (!r->has_column)
		return take_head(r, line, w);
	if (!strcmp(type, "environment"))
		return error_value(r->e, w, line, "one report in a file");
	if (!strcmp(type, "begin") && id)
		json_object_set_new(r->begun, id, json_true());
	if (!strcmp(type, "summary"))
		r->has_end = !json_object_get(line, "interrupted");
	if (strcmp(type, "result") != 0)
		return 0;
	if (id)
		json_object_del(r->begun, id);
	return take_result(r, line, w);
}

/* One line, whose number is said in place of that within its text. */
static int read_line(struct reading *r, const char *text, size_t size, int number)
{
	struct source source = {.name = r->path, .root = "", .length = size};
	struct where root = where_root(&source);
	char *copy = strndup(text, size);
	json_t *line;
	int err;

	if (!copy)
		return error_no_memory(r->e, &root, "a line");
	source.text = copy;
	line = source_parse(&source, r->e);
	err = line ? take_report_line(r, line, &root) : -EINVAL;
	if (err)
		r->e->line = number;
	json_decref(line);
	free(copy);
	return err;
}

/* A machine that died has left the last line cut; what is before it counts. */
static bool is_cut(const char *text, size_t size, const char *newline)
{
	json_t *line = newline ? NULL : json_loadb(text, size, 0, NULL);

	json_decref(line);
	return !newline && !line;
}

/* What had begun and has no end has not passed, for one. */
static int take_begun(struct reading *r)
{
	static const char why[] = "the report ends while this case runs";
	struct where root = where_root(r->source);
	const char *id;
	json_t *unused;
	int err = 0;

	json_object_foreach(r->begun, id, unused) {
		json_t *result = json_pack("{s:s, s:s, s:s}", "id", id, "outcome",
					   outcome_names[ERROR], "reason", why);

		err = err ? err : take_result(r, result, &root);
		json_decref(result);
	}
	return err;
}

static int read_lines(struct reading *r)
{
	const char *text = r->source->text, *end = text + r->source->length;
	int err = 0;

	r->begun = json_object();
	for (int number = 1; !err && text < end; number++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t size = (size_t)((newline ? newline : end) - text);

		if (size && !is_cut(text, size, newline))
			err = read_line(r, text, size, number);
		text += size + 1;
	}
	err = err ? err : take_begun(r);
	json_decref(r->begun);
	return err;
}

/* The first line is an object by itself, of the type that a report's has. */
static bool has_lines(const struct source *source)
{
	const char *newline = memchr(source->text, '\n', source->length);
	json_t *first =
		newline ? json_loadb(source->text, (size_t)(newline - source->text), 0, NULL)
			: NULL;
	bool has = !strcmp(type_of_line(first), "environment");

	json_decref(first);
	return has;
}

int page_read(struct table *table, const char *path, struct error *e)
{
	struct source source = {.name = path, .root = "", .text = ""};
	struct where root = where_root(&source);
	struct reading r = {.table = table, .source = &source, .path = path, .e = e};
	char *text = text_read(path, &source.length, REPORT_MOST);
	int err;

	if (!text) {
		source.length = 0;
		return error_text(e, &root, strerror(errno), "%s", wanted);
	}
	source.text = text;
	err = has_lines(&source) ? read_lines(&r) : read_whole(&r);
	if (!err && !r.has_end)
		json_object_set_new(table->columns[table->column_count - 1].about, "cut",
				    json_true());
	free(text);
	return err;
}
