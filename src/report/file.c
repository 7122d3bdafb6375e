/* SPDX-License-Identifier: MIT */
/*
 * Its shape is looked at here, for all who read reports. What a newer perfabi may have beside is
 * let be.
 */
#include "report/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/json_text.h"
#include "text/say.h"
#include "text/source.h"

enum { REPORT_MOST = 1 << 30 };

struct reading {
	const struct report_sink *sink;
	const struct source *source; /* the whole file */
	const char *path;
	struct error *e;
	bool has_head, has_end;
	json_t *cases; /* those that have begun, by id: whether they have not ended */
};

static const char wanted[] = "a report of perfabi run --format json or jsonl";

static int check_texts(const json_t *object, const struct where *w, const char *const keys[],
		       struct error *e)
{
	for (size_t i = 0; keys[i]; i++) {
		const json_t *value = json_object_get(object, keys[i]);

		if (value && !json_is_string(value) && !json_is_null(value))
			return error_value(e, AT_KEY(w, keys[i]), value, "a text");
	}
	return 0;
}

static int check_part(const json_t *object, const struct where *w, struct error *e)
{
	return !object || json_is_object(object) ? 0 : error_value(e, w, object, "an object");
}

/* Texts of a report's head, under names of their own. */
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

/* And numbers of its environment. */
static const char *const number_keys[] = {"bits",      "uid",         "page_size",
					  "attr_size", "cpus_online", NULL};

static void copy_number(json_t *to, const char *as, const json_t *from, const char *key)
{
	if (json_is_integer(json_object_get(from, key)))
		json_object_set(to, as, json_object_get(from, key));
}

json_t *report_about(const json_t *head, const struct where *w, struct error *e)
{
	const json_t *environment = json_object_get(head, "environment");
	json_t *about = or_exit(json_object());

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const json_t *part = facts[i].part ? json_object_get(head, facts[i].part) : head;
		struct where inside = facts[i].part ? where_key(w, facts[i].part) : *w;
		const char *const keys[] = {facts[i].key, NULL};

		if (check_part(part, &inside, e) || check_texts(part, &inside, keys, e)) {
			json_decref(about);
			return NULL;
		}
		if (member_text(part, facts[i].key)[0])
			json_object_set(about, facts[i].as, json_object_get(part, facts[i].key));
	}
	for (size_t i = 0; number_keys[i]; i++)
		copy_number(about, number_keys[i], environment, number_keys[i]);
	copy_number(about, "paranoid", json_object_get(environment, "sysctls"),
		    "perf_event_paranoid");
	return about;
}

static int check_result(const json_t *result, const struct where *w, struct error *e, int *outcome)
{
	static const char *const texts[] = {"title", "suite",    "place", "as",         "vehicle",
					    "kind",  "expected", "got",   "capability", "call",
					    "token", "reason",   NULL};
	const json_t *id = json_object_get(result, "id");
	const json_t *name = json_object_get(result, "outcome");
	struct where at_outcome = where_key(w, "outcome");
	struct nearest near;
	char all[128];

	if (!json_is_object(result))
		return error_value(e, w, result, "an object: a case and what came of it");
	if (!json_string_length(id))
		return error_value(e, AT_KEY(w, "id"), id, "the id of a case");
	if (!json_is_string(name))
		return error_value(e, &at_outcome, name, "an outcome");
	near = nearest_to(json_string_value(name));
	*outcome = name_index(json_string_value(name), outcome_names, &near);
	if (*outcome < 0)
		return error_name(e, &at_outcome, json_string_value(name), near.best,
				  "an outcome: %s", words_as_text(outcome_names, all, sizeof(all)));
	if (check_texts(result, w, texts, e) ||
	    check_part(json_object_get(result, "spec"), AT_KEY(w, "spec"), e))
		return -EINVAL;
	return check_part(json_object_get(result, "deviation"), AT_KEY(w, "deviation"), e);
}

static int take_checked(struct reading *r, const json_t *result, const struct where *w)
{
	int outcome = ERROR, err = check_result(result, w, r->e, &outcome);
	const json_t *id = json_object_get(result, "id");

	if (err)
		return err;
	if (json_is_false(json_object_get(r->cases, json_string_value(id))))
		return error_value(r->e, w, id, "each case once in a report");
	json_object_set_new(r->cases, json_string_value(id), json_false());
	return r->sink->result(r->sink->context, result, (enum outcome)outcome);
}

static int read_results(struct reading *r, const json_t *report, const struct where *root)
{
	struct where list = where_key(root, "results");
	const json_t *results = json_object_get(report, "results"), *result;
	size_t i;
	int err;

	if (!json_is_array(results))
		return error_value(r->e, &list, results, "a list of results");
	err = r->sink->head(r->sink->context, report, root);
	json_array_foreach(results, i, result) {
		err = err ? err : take_checked(r, result, AT_INDEX(&list, i));
	}
	r->has_end = !json_object_get(json_object_get(report, "summary"), "interrupted");
	return err;
}

static int read_whole(struct reading *r)
{
	struct where root = where_root(r->source);
	json_t *report = source_parse(r->source, r->e);
	int err;

	if (!report)
		return -EINVAL;
	if (r->sink->other && json_is_object(report) && !json_object_get(report, "results"))
		err = r->sink->other(r->sink->context, report, &root);
	else if (json_object_get(report, "topics") && !json_object_get(report, "results"))
		err = error_text(r->e, &root, "what perfabi probe --json prints", "%s", wanted);
	else if (!json_is_object(json_object_get(report, "environment")))
		err = error_value(r->e, &root, report, "%s", wanted);
	else
		err = read_results(r, report, &root);
	json_decref(report);
	return err;
}

static int take_report_line(struct reading *r, const json_t *line, const struct where *w)
{
	const char *type = member_text(line, "type"),
		   *id = json_string_value(json_object_get(line, "id"));

	if (!r->has_head) {
		r->has_head = true;
		return r->sink->head(r->sink->context, line, w);
	}
	if (!strcmp(type, "environment"))
		return error_value(r->e, w, line, "one report in a file");
	if (!strcmp(type, "begin") && id && !json_object_get(r->cases, id))
		json_object_set_new(r->cases, id, json_true());
	if (!strcmp(type, "summary"))
		r->has_end = !json_object_get(line, "interrupted");
	return strcmp(type, "result") != 0 ? 0 : take_checked(r, line, w);
}

/* One line, whose number is said in place of that within its text. */
static int read_line(struct reading *r, const char *text, size_t size, int number)
{
	struct source source = {.name = r->path, .root = "", .length = size};
	struct where root = where_root(&source);
	char *copy = or_exit(strndup(text, size));
	json_t *line;
	int err;

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
	json_t *runs;
	int err = 0;

	json_object_foreach(r->cases, id, runs) {
		json_t *result = json_pack("{s:s, s:s, s:s}", "id", id, "outcome",
					   outcome_names[ERROR], "reason", why);

		if (!err && json_is_true(runs))
			err = take_checked(r, result, &root);
		json_decref(result);
	}
	return err;
}

static int read_lines(struct reading *r)
{
	const char *text = r->source->text, *end = text + r->source->length;
	int err = 0;

	for (int number = 1; !err && text < end; number++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t size = (size_t)((newline ? newline : end) - text);

		if (size && !is_cut(text, size, newline))
			err = read_line(r, text, size, number);
		text += size + 1;
	}
	return err ? err : take_begun(r);
}

/* The first line is an object by itself, of the type that a report's has. */
static bool has_lines(const struct source *source)
{
	const char *newline = memchr(source->text, '\n', source->length);
	json_t *first =
		newline ? json_loadb(source->text, (size_t)(newline - source->text), 0, NULL)
			: NULL;
	bool has = !strcmp(member_text(first, "type"), "environment");

	json_decref(first);
	return has;
}

int report_file_read(const char *path, const struct report_sink *sink, bool *has_end,
		     struct error *e)
{
	struct source source = {.name = path, .root = "", .text = ""};
	struct where root = where_root(&source);
	struct reading r = {.sink = sink, .source = &source, .path = path, .e = e};
	char *text = text_read(path, &source.length, REPORT_MOST);
	int err;

	if (!text) {
		source.length = 0;
		error_text(e, &root, strerror(errno), "%s", wanted);
		e->line = 0; /* none was read */
		return -EINVAL;
	}
	source.text = text;
	r.cases = or_exit(json_object());
	err = has_lines(&source) ? read_lines(&r) : read_whole(&r);
	json_decref(r.cases);
	if (has_end)
		*has_end = r.has_end;
	free(text);
	return err;
}
