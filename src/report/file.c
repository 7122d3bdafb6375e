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
#include "text/source.h"

enum { REPORT_MOST = 1 << 30 };

struct reading {
	const struct report_sink *sink;
	const struct source *source; /* the whole file */
	const char *path;
	struct error *e;
	bool has_head, has_end;
	json_t *begun; /* of JSON Lines: cases that have begun and not ended */
};

static const char wanted[] = "a report of perfabi run --format json or jsonl";

int report_check_texts(const json_t *object, const struct where *w, const char *const keys[],
		       struct error *e)
{
	for (size_t i = 0; keys[i]; i++) {
		const json_t *value = json_object_get(object, keys[i]);

		if (value && !json_is_string(value) && !json_is_null(value))
			return error_value(e, AT_KEY(w, keys[i]), value, "a text");
	}
	return 0;
}

int report_check_part(const json_t *object, const struct where *w, struct error *e)
{
	return !object || json_is_object(object) ? 0 : error_value(e, w, object, "an object");
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
				  "an outcome: pass, fail, skip, xfail, xpass or error");
	if (report_check_texts(result, w, texts, e) ||
	    report_check_part(json_object_get(result, "spec"), AT_KEY(w, "spec"), e))
		return -EINVAL;
	return report_check_part(json_object_get(result, "deviation"), AT_KEY(w, "deviation"), e);
}

static int take_checked(struct reading *r, const json_t *result, const struct where *w)
{
	int outcome = ERROR, err = check_result(result, w, r->e, &outcome);

	return err ? err : r->sink->result(r->sink->context, result, (enum outcome)outcome, w);
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
	if (!strcmp(type, "begin") && id)
		json_object_set_new(r->begun, id, json_true());
	if (!strcmp(type, "summary"))
		r->has_end = !json_object_get(line, "interrupted");
	if (strcmp(type, "result") != 0)
		return 0;
	if (id)
		json_object_del(r->begun, id);
	return take_checked(r, line, w);
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
	json_t *unused;
	int err = 0;

	json_object_foreach(r->begun, id, unused) {
		json_t *result = json_pack("{s:s, s:s, s:s}", "id", id, "outcome",
					   outcome_names[ERROR], "reason", why);

		err = err ? err : take_checked(r, result, &root);
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
	err = has_lines(&source) ? read_lines(&r) : read_whole(&r);
	if (has_end)
		*has_end = r.has_end;
	free(text);
	return err;
}
