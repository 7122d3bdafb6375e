/* SPDX-License-Identifier: MIT */
/*
 * JSON with the parts of a question, and an event by its name.
 */
#include "why/question.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call/call.h"
#include "language/keys.h"
#include "machine/names.h"

static json_t *field_of(const json_t *json, const char *key)
{
	return json_incref(json_object_get(json, key));
}

/* An event by its name, as `open` of a case. NULL with `e` filled. */
static json_t *open_by_name(struct question *q, const char *name, const json_t *names,
			    struct environment *env, struct error *e)
{
	json_t *attr = event_attr(name, names, env, &q->absence, e);

	return attr ? json_pack("{s:o}", "attr", attr) : NULL;
}

/* `as` and `errno` are texts; those of `open`, `given` and `then` have readers of their own. */
static void check_as_and_errno(const struct question *q, const json_t *err,
			       const struct where *root, struct error *e)
{
	const char *told = json_string_value(err);
	struct where at_errno = where_key(root, "errno");
	struct nearest near = nearest_to(told ? told : "");

	if (q->as && !json_is_string(q->as))
		error_value(e, AT_KEY(root, "as"), q->as, "%s", identity_choice);
	if (err && !told)
		error_value(e, &at_errno, err, "an errno's name, or ok");
	else if (told && strcmp(told, "ok") && !errno_by_name(told, &near))
		error_name(e, &at_errno, told, near.best, "an errno's name, or ok");
}

/* {"as", "open" or "event", "given", "then", "errno"}; a bare attr or open is one, too. */
int question_of_json(struct question *q, const struct source *text, const json_t *names,
		     struct environment *env, struct error *e)
{
	static const char *const keys[] = {"as", "open", "event", "given", "then", "errno", NULL};
	struct where root = where_root(text);
	json_t *json = call_text_parse(text, e), *event, *err;

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
		err = json_object_get(json, "errno");
		*(q->then ? &q->told_behind : &q->told) = json_incref(err);
		check_as_and_errno(q, err, &root, e);
		event = json_object_get(json, "event");
		if (q->open && event)
			error_value(e, &root, json, "`open` or `event`, not both");
		if (!q->open && json_is_string(event) && !error_is_set(e))
			q->open = open_by_name(q, json_string_value(event), names, env, e);
		if (!q->open && !error_is_set(e))
			error_value(e, &root, json, "`open`, or `event`");
	}
	json_decref(json);
	return error_is_set(e) ? -EINVAL : 0;
}

/* One line, without what is around it. */
int question_of_name(struct question *q, const struct source *text, const json_t *names,
		     struct environment *env, struct error *e)
{
	size_t from = strspn(text->text, " \t\n"), n = strcspn(text->text + from, " \t\n");
	const char *more = text->text + from + n + strspn(text->text + from + n, " \t\n");
	struct where root = where_root(text);
	char name[512], got[48];

	snprintf(name, sizeof(name), "%.*s", (int)(n < sizeof(name) ? n : sizeof(name) - 1),
		 text->text + from);
	snprintf(got, sizeof(got), "%.40s", *more ? more : name);
	if (*more)
		return error_text(e, &root, got, "one event, and nothing behind it");
	if (n >= sizeof(name))
		return error_text(e, &root, got, "an event of at most 511 letters");
	q->open = open_by_name(q, name, names, env, e);
	return q->open ? 0 : -EINVAL;
}

void question_free(struct question *q)
{
	json_decref(q->as);
	json_decref(q->open);
	json_decref(q->given);
	json_decref(q->then);
	json_decref(q->told);
	json_decref(q->told_behind);
	json_decref(q->notes);
}
