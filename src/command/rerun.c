/* SPDX-License-Identifier: MIT */
/*
 * What a report says of a case is asked again by its whole id, of the cases that are there now.
 */
#include "command/rerun.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case/cases.h"
#include "report/file.h"
#include "text/say.h"

struct rerun {
	json_t *ids;
	char *baseline;
	struct error *e;
};

static int note_head(void *context, const json_t *head, const struct where *w)
{
	const json_t *words = json_object_get(head, "again"), *word;
	struct rerun *rerun = context;
	bool is_next = false;
	size_t i;

	json_array_foreach(words, i, word) {
		const char *text = json_string_value(word);

		if (is_next && text && !rerun->baseline) {
			rerun->baseline = strdup(text);
			if (!rerun->baseline)
				return error_no_memory(rerun->e, w, "memory for a baseline's name");
		}
		is_next = text && !strcmp(text, "--baseline");
	}
	return 0;
}

/* The last that is said of a case counts. */
static int note_result(void *context, const json_t *result, enum outcome outcome,
		       const struct where *w)
{
	json_t *ids = ((struct rerun *)context)->ids;
	const char *id = json_string_value(json_object_get(result, "id"));

	(void)w;
	if (outcome == FAIL || outcome == XPASS || outcome == ERROR)
		json_object_set_new(ids, id, json_true());
	else
		json_object_del(ids, id);
	return 0;
}

json_t *rerun_ids(const char *path, const char *program, char **baseline)
{
	struct error e = {0};
	struct rerun rerun = {.ids = json_object(), .e = &e};
	const struct report_sink sink = {
		.head = note_head, .result = note_result, .context = &rerun};

	*baseline = NULL;
	if (!report_file_read(path, &sink, NULL, &e)) {
		*baseline = rerun.baseline;
		return rerun.ids;
	}
	error_print(stderr, program, &e);
	json_decref(rerun.ids);
	free(rerun.baseline);
	return NULL;
}

/* A case that was renamed since, or is of other files. */
static void say_gone(const struct session *session, const json_t *ids, const char *path)
{
	const char *id, *first = NULL;
	size_t count = 0;
	json_t *unused;

	json_object_foreach((json_t *)ids, id, unused) {
		if (cases_find(&session->loaded.cases, id))
			continue;
		first = first ? first : id;
		count++;
	}
	if (count == 1)
		say(stderr, "%s: %s has %s, which no case here is called; it is left out\n",
		    session->program, path, first);
	else if (count)
		say(stderr,
		    "%s: %s has %zu ids that no case here is called, as %s; they are left out\n",
		    session->program, path, count, first);
}

int rerun_narrow(struct session *session, const json_t *ids, const char *path)
{
	size_t kept = 0;

	say_gone(session, ids, path);
	for (size_t i = 0; i < session->count; i++)
		if (json_object_get(ids, session->picked[i]->id))
			session->picked[kept++] = session->picked[i];
	session->count = kept;
	if (kept)
		return 0;
	say(stderr, "%s: none of what failed in %s is among the cases picked\n", session->program,
	    path);
	return EXIT_USAGE;
}
