/* SPDX-License-Identifier: MIT */
/*
 * Which form it is shows at its beginning.
 */
#include "why/question.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "language/keys.h"
#include "machine/names.h"
#include "why/attr_block.h"
#include "why/event_name.h"
#include "why/strace.h"

static json_t *field_of(const json_t *json, const char *key)
{
	return json_incref(json_object_get(json, key));
}

/* {"as", "open" or "event", "given", "then", "errno"}; a bare attr or open is one, too. */
static int read_question(struct question *q, const struct source *text, const json_t *names,
			 struct environment *env, struct error *e)
{
	static const char *const keys[] = {"as", "open", "event", "given", "then", "errno", NULL};
	struct where root = where_root(text);
	json_t *json = source_parse(text, e), *event;

	if (!json)
		return -EINVAL;
	if (json_object_get(json, "attr") && !json_object_get(json, "open"))
		q->open = json_incref(json);
	else if (json_object_get(json, "type") && !json_object_get(json, "open"))
		q->open = json_pack("{s:O}", "attr", json);
	else if (!keys_check(json, keys, "a question (as, open, event, given, then, errno)", &root,
			     e)) {
		q->open = field_of(json, "open");
		q->as = field_of(json, "as");
		q->given = field_of(json, "given");
		q->then = field_of(json, "then");
		q->told = field_of(json, "errno");
		event = json_object_get(json, "event");
		if (!q->open && json_is_string(event)) {
			json_t *attr = event_attr(json_string_value(event), names, env, e);

			q->open = attr ? json_pack("{s:o}", "attr", attr) : NULL;
		}
		if (!q->open && !error_is_set(e))
			error_value(e, &root, json, "`open`, or `event`");
	}
	json_decref(json);
	return error_is_set(e) ? -EINVAL : 0;
}

/* A descriptor that an earlier line has opened is named by it. */
static void name_group(json_t *open, const json_t *given)
{
	const char *number = json_string_value(json_object_get(open, "group_fd"));
	char name[16];
	json_t *step;
	size_t i;

	snprintf(name, sizeof(name), "fd%.10s", number ? number : "");
	json_array_foreach(given, i, step)
		if (!strcmp(json_string_value(json_object_get(step, "bind")), name))
			json_object_set_new(open, "group_fd", json_sprintf("$%s", name));
}

static json_t *step_that_opened(json_t *open, int fd)
{
	return json_pack("{s:O,s:o}", "open", open, "bind", json_sprintf("fd%d", fd));
}

/* The last line is asked about, or the first that was refused; those before it were given. */
static int read_strace(struct question *q, const struct source *text, struct error *e)
{
	struct where root = where_root(text);
	char *copy = strdup(text->text), *save = NULL;
	struct strace_result result = {.fd = -1};

	q->given = json_array();
	for (char *line = copy ? strtok_r(copy, "\n", &save) : NULL; line && !result.error[0];
	     line = strtok_r(NULL, "\n", &save)) {
		json_t *open;

		if (!strace_has_call(line))
			continue;
		if (q->open && result.fd >= 0)
			json_array_append_new(q->given, step_that_opened(q->open, result.fd));
		open = strace_open(line, &result, &root, e);
		json_decref(q->open);
		q->open = open;
		if (!open)
			break;
		name_group(open, q->given);
	}
	free(copy);
	if (q->open && result.is_told)
		q->told = json_string(result.error[0] ? result.error : "ok");
	return q->open ? 0 : -EINVAL;
}

static int read_block(struct question *q, const struct source *text, const struct environment *env,
		      struct error *e)
{
	struct where root = where_root(text);
	int told;

	q->open = attr_block_open(text->text, env->abi, &told, &root, e);
	if (told)
		q->told = json_string(errno_name(told));
	return q->open ? 0 : -EINVAL;
}

/* One line, without what is around it. */
static int read_name(struct question *q, const struct source *text, const json_t *names,
		     struct environment *env, struct error *e)
{
	size_t from = strspn(text->text, " \t\n"), n = strcspn(text->text + from, " \t\n");
	char name[512];
	json_t *attr;

	snprintf(name, sizeof(name), "%.*s", n < sizeof(name) ? (int)n : 511, text->text + from);
	attr = event_attr(name, names, env, e);
	q->open = attr ? json_pack("{s:o}", "attr", attr) : NULL;
	return q->open ? 0 : -EINVAL;
}

int question_read(struct question *q, const struct source *text, const json_t *names,
		  struct environment *env, struct error *e)
{
	const char *at = text->text + strspn(text->text, " \t\n");

	*q = (struct question){0};
	if (*at == '{')
		return read_question(q, text, names, env, e);
	if (attr_block_is_in(at))
		return read_block(q, text, env, e);
	if (strace_has_call(at))
		return read_strace(q, text, e);
	return read_name(q, text, names, env, e);
}

void question_free(struct question *q)
{
	json_decref(q->as);
	json_decref(q->open);
	json_decref(q->given);
	json_decref(q->then);
	json_decref(q->told);
}
