/* SPDX-License-Identifier: MIT */
/*
 * A report is one object, or an object a line, of which a machine that died can have left the last
 * one cut.
 */
#include "command/rerun.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "case/load.h"
#include "text/say.h"

enum { REPORT_MOST = 1 << 30 };

static bool is_to_rerun(const json_t *result)
{
	static const char *const outcomes[] = {"fail", "xpass", "error", NULL};
	const char *outcome = json_string_value(json_object_get(result, "outcome"));

	return outcome && name_index(outcome, outcomes, NULL) >= 0;
}

static void note(json_t *ids, const json_t *result)
{
	const char *id = json_string_value(json_object_get(result, "id"));

	if (!id)
		return;
	if (is_to_rerun(result))
		json_object_set_new(ids, id, json_true());
	else
		json_object_del(ids, id);
}

/* What has begun stays noted until its result comes. */
static void note_line(json_t *ids, const json_t *line)
{
	const char *type = json_string_value(json_object_get(line, "type"));

	if (!type)
		return;
	if (!strcmp(type, "begin") && json_string_value(json_object_get(line, "id")))
		json_object_set_new(ids, json_string_value(json_object_get(line, "id")),
				    json_true());
	else if (!strcmp(type, "result"))
		note(ids, line);
}

/* True if the text is a report of one object. */
static bool note_whole(json_t *ids, const char *text, size_t size)
{
	json_t *report = json_loadb(text, size, 0, NULL), *result;
	const json_t *results = json_object_get(report, "results");
	size_t i;

	json_array_foreach(results, i, result)
		note(ids, result);
	json_decref(report);
	return results != NULL;
}

/* True if its first line is one of a report. */
static bool note_lines(json_t *ids, const char *text, size_t size)
{
	bool is_report = false;

	for (const char *end = text + size; text < end;) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text);
		json_t *line = json_loadb(text, n, 0, NULL);

		is_report = is_report || json_object_get(line, "environment");
		note_line(ids, line);
		json_decref(line);
		text += n + 1;
	}
	return is_report;
}

/* NULL after a message. */
static json_t *rerun_ids(const char *path, const char *program)
{
	json_t *ids = json_object();
	size_t size;
	char *text = text_read(path, &size, REPORT_MOST);

	if (!text)
		say(stderr, "%s: %s: %s\n", program, path, strerror(errno));
	else if (!note_whole(ids, text, size) && !note_lines(ids, text, size))
		say(stderr,
		    "%s: --rerun \"%s\"\n  expected: a report of perfabi run --format json or "
		    "jsonl\n",
		    program, path);
	else {
		free(text);
		return ids;
	}
	free(text);
	json_decref(ids);
	return NULL;
}

/* NULL without memory. */
static char *exactly(const char *id)
{
	char *text;

	return asprintf(&text, "=%s", id) < 0 ? NULL : text;
}

char **rerun_arguments(const char *path, char *const before[], const char *program)
{
	json_t *ids = rerun_ids(path, program), *unused;
	size_t n = 0, paths = 0;
	bool has_all = true;
	char **arguments;
	const char *id;

	if (!ids)
		return NULL;
	while (json_object_size(ids) && before[paths])
		paths++;
	arguments = calloc(paths + json_object_size(ids) + 1, sizeof(*arguments));
	for (size_t i = 0; arguments && i < paths; i++)
		if (is_path(before[i]))
			arguments[n++] = strdup(before[i]);
	json_object_foreach(ids, id, unused)
		if (arguments)
			arguments[n++] = exactly(id);
	for (size_t i = 0; i < n; i++)
		has_all = has_all && arguments[i];
	json_decref(ids);
	if (arguments && has_all)
		return arguments;
	say(stderr, "%s: %s\n", program, strerror(ENOMEM));
	for (size_t i = 0; i < n; i++)
		free(arguments[i]);
	free(arguments);
	return NULL;
}

void rerun_free(char **arguments)
{
	for (size_t i = 0; arguments && arguments[i]; i++)
		free(arguments[i]);
	free(arguments);
}
