/* SPDX-License-Identifier: MIT */
/*
 * What a report says of a case is asked again by its whole id.
 */
#include "command/rerun.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "case/load.h"
#include "report/file.h"
#include "text/say.h"

static int note_head(void *context, const json_t *head, const struct where *w)
{
	(void)context, (void)head, (void)w;
	return 0;
}

/* The last that is said of a case counts. */
static int note_result(void *context, const json_t *result, enum outcome outcome,
		       const struct where *w)
{
	json_t *ids = context;
	const char *id = json_string_value(json_object_get(result, "id"));

	(void)w;
	if (outcome == FAIL || outcome == XPASS || outcome == ERROR)
		json_object_set_new(ids, id, json_true());
	else
		json_object_del(ids, id);
	return 0;
}

/* NULL after a message. */
static json_t *rerun_ids(const char *path, const char *program)
{
	json_t *ids = json_object();
	const struct report_sink sink = {.head = note_head, .result = note_result, .context = ids};
	struct error e = {0};

	if (!report_file_read(path, &sink, NULL, &e))
		return ids;
	error_print(stderr, program, &e);
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
