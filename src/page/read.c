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

/* A report as it is read. */
struct reading {
	struct table *table;
	const char *path;
	struct error *e;
};

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

	if (report_check_part(part, &inside, e) || report_check_texts(part, &inside, keys, e))
		return -EINVAL;
	if (json_is_string(value))
		json_object_set(about, facts[i].as, value);
	return 0;
}

/* "callers": whom perfabi could be there. */
static json_t *callers_of(const json_t *identities)
{
	json_t *list = json_array();

	for (enum identity as = 0; as < IDENTITIES; as++)
		if (environment_opens(identities, as))
			json_array_append_new(list, json_string(identity_names[as]));
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

/* What somebody copies into a shell is perfabi, and nothing in it does more than stand there. */
static bool is_safe(const json_t *words)
{
	static const char *const first[] = {"perfabi", "run"};
	const json_t *word;
	size_t i;

	json_array_foreach(words, i, word) {
		const char *text = json_string_value(word);

		if (i < 2 && strcmp(text, first[i]) != 0)
			return false;
		for (; *text; text++)
			if ((unsigned char)*text < 0x20 || *text == 0x7f)
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
	const struct column *last = &r->table->columns[r->table->column_count - 1];

	for (const struct column *column = r->table->columns; column < last; column++)
		if (is_same_run(column, last)) {
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
	const json_t *environment = json_object_get(head, "environment");
	json_t *about = json_object(), *file = json_string(name_of_file(r->path));
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(facts) / sizeof(facts[0]); i++)
		err = copy_fact(about, head, w, i, r->e);
	err = err ? err : copy_again(about, head, w, r->e);
	if (err) {
		json_decref(about);
		json_decref(file);
		return err;
	}
	copy_numbers(about, environment);
	settle_name(about, r->path);
	if (file)
		json_object_set_new(about, "file", file);
	if (table_add_column(r->table, about))
		return error_value(r->e, w, head, "at most %d reports", COLUMNS_MAX);
	return check_is_new(r, w, head);
}

static int add_result(void *context, const json_t *result, enum outcome outcome,
		      const struct where *w)
{
	struct reading *r = context;

	return table_add_result(r->table, result, outcome)
		       ? error_value(r->e, w, json_object_get(result, "id"),
				     "each case once in a report")
		       : 0;
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
