/* SPDX-License-Identifier: MIT */
/*
 * A list of steps from its first to its last: do, look at what came, bind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "step/sync.h"
#include "step/expect.h"

const char *const steps_nested[] = {"fork", "thread", "exec", "do", NULL};

/* Names what came. 0 or -EINVAL with `e` filled. */
static int bind_result(struct step *s, const struct verb *verb)
{
	const json_t *bind = json_object_get(s->json, "bind");
	struct where at = where_key(s->where, "bind");
	const char *name = json_string_value(bind);
	int err;

	if (!bind || s->err)
		return 0;
	if (verb->binds == BINDS_SEEN && s->seen)
		err = name ? scope_bind_json(s->scope, name, s->seen) : -EINVAL;
	else
		err = name ? scope_bind(s->scope, name, s->result) : -EINVAL;
	if (err == -ENOSPC)
		return error_value(s->error, &at, bind, "at most %d names", SCOPE_MAX);
	if (err == -EEXIST)
		return error_value(s->error, &at, bind, "a name that means nothing yet");
	if (err)
		return error_value(s->error, &at, bind, "a name of a-z, 0-9 and _, at most %d",
				   SCOPE_NAME - 1);
	return 0;
}

static int check_step(const json_t *json, const struct cases *cases, struct scope *scope,
		      const struct where *w, struct error *e)
{
	const struct verb *verb = verb_of(json, w, e);
	const json_t *expect = json_object_get(json, "expect");
	struct where at_expect = where_key(w, "expect"), at_when = where_key(w, "when");
	struct step s = {.json = json, .cases = cases, .scope = scope, .where = w, .error = e};
	int err;

	if (!verb || expect_check_when(json_object_get(json, "when"), cases, &at_when, e))
		return -EINVAL;
	s.argument = json_object_get(json, verb->name);
	s.at = where_key(w, verb->name);
	err = verb->run(&s);
	if (!err && expect)
		err = step_expect_check(expect, verb, cases, scope, &at_expect, e);
	if (!err)
		err = bind_result(&s, verb);
	json_decref(s.seen);
	return err;
}

int steps_check(const json_t *list, const struct cases *cases, struct scope *scope,
		const struct where *w, struct error *e)
{
	json_t *step;
	size_t i;

	if (list && !json_is_array(list))
		return error_value(e, w, list, "a list of steps");
	json_array_foreach(list, i, step) {
		struct where at = where_index(w, i);

		if (check_step(step, cases, scope, &at, e))
			return -EINVAL;
	}
	return 0;
}

bool failure_set(struct failure *f, enum outcome outcome, const char *expected, const char *got)
{
	f->outcome = (int)outcome;
	snprintf(f->expected, sizeof(f->expected), "%s", expected);
	snprintf(f->got, sizeof(f->got), "%s", got);
	return false;
}

/* Shows the step that failed: where it stands, and the call if it was one. */
static void show_call(const struct step *s, struct failure *f)
{
	char *text = s->call[0] ? NULL : json_dumps(s->json, JSON_COMPACT);
	size_t index = s->where->index;

	snprintf(f->call, sizeof(f->call), "step %zu: %s", index + 1,
		 s->call[0] ? s->call
		 : text     ? text
			    : "?");
	free(text);
}

static bool run_step(struct steps *run, const json_t *json, const struct where *w,
		     struct failure *f)
{
	struct error e = {0};
	const struct verb *verb = verb_of(json, w, &e);
	struct step s = {.json = json,
			 .cases = run->cases,
			 .scope = &run->scope,
			 .run = run,
			 .where = w,
			 .error = &e};
	bool good = false;
	int err;

	if (!expect_applies(json, run->instance, run->env))
		return true;
	s.argument = verb ? json_object_get(json, verb->name) : NULL;
	s.at = where_key(w, verb ? verb->name : "");
	err = verb ? verb->run(&s) : -EINVAL;
	if (s.inner && s.inner->outcome != PASS)
		*f = *s.inner;
	else if (err)
		failure_set(f, err == -ECANCELED ? FAIL : ERROR, e.expected, e.got);
	else if (step_expect_judge(&s, f))
		good = !bind_result(&s, verb) || failure_set(f, ERROR, e.expected, e.got);
	if (!good && !s.inner)
		show_call(&s, f);
	free(s.inner);
	json_decref(s.seen);
	return good;
}

bool steps_run(struct steps *run, const json_t *list, const struct where *w,
	       struct failure *failure)
{
	json_t *step;
	size_t i;

	*failure = (struct failure){0};
	json_array_foreach(list, i, step) {
		struct where at = where_index(w, i);

		if (run->at_step)
			*run->at_step = (unsigned)i + 1;
		if (!run_step(run, step, &at, failure))
			return false;
	}
	return true;
}

/* Fails as the step of the list does that failed. */
int verb_repeat(struct step *s)
{
	const json_t *list = json_object_get(s->json, "do");
	struct where at = where_key(s->where, "do");
	uint64_t times;
	int err = step_number(s, NULL, 1, 100000, &times);

	if (err)
		return err;
	if (step_is_checked(s))
		return steps_check(list, s->cases, s->scope, &at, s->error);
	s->inner = calloc(1, sizeof(*s->inner));
	if (!s->inner)
		return step_failed(s, ENOMEM);
	for (uint64_t i = 0; i < times; i++)
		if (!steps_run(s->run, list, &at, s->inner))
			return -EPROTO;
	return 0;
}

int steps_begin(struct steps *s, const struct instance *instance, const struct cases *cases,
		struct environment *env)
{
	*s = (struct steps){.cases = cases, .instance = instance, .env = env};
	s->scope.env = env;
	s->scope.unmapped = call_unmapped_page(env);
	s->meeting_fd = -1;
	s->meeting = meeting_make(&s->meeting_fd);
	return s->meeting ? 0 : -ENOMEM;
}

/* Records that no step asked for must be well formed too. */
static bool decode_rest(struct steps *run, struct failure *f)
{
	struct where at = where_root(run->instance->source);

	for (size_t i = run->first_map; i < run->map_count; i++) {
		struct error e = {0};
		json_t *json = json_pack("{s:i}", "records", run->maps[i].fd);
		struct step s = {.json = json,
				 .argument = json_object_get(json, "records"),
				 .cases = run->cases,
				 .scope = &run->scope,
				 .run = run,
				 .where = &at,
				 .error = &e};
		bool is_readable = run->maps[i].at && run->maps[i].is_data && !run->maps[i].mangled;
		int err = is_readable ? verb_records(&s) : 0;

		json_decref(s.seen);
		if (err) {
			failure_set(f, err == -ECANCELED ? FAIL : ERROR, e.expected, e.got);
			snprintf(f->call, sizeof(f->call),
				 "decoding the buffer of fd %d at the end", run->maps[i].fd);
		}
		json_decref(json);
		if (err)
			return false;
	}
	return true;
}

static bool end_child(struct steps *run, struct child *child, struct failure *f)
{
	int status = 0, err = child_wait(child, &status);
	char got[64];

	if (meeting_failed(run->meeting, f))
		return false;
	if (!err && !status)
		return true;
	if (err)
		snprintf(got, sizeof(got), "%s", strerrorname_np(-err));
	else if (WIFSIGNALED(status))
		snprintf(got, sizeof(got), "signal %d", WTERMSIG(status));
	else
		snprintf(got, sizeof(got), "exit status %d", WEXITSTATUS(status));
	return failure_set(f, ERROR, "a child that no step waits for to end well", got);
}

bool steps_end(struct steps *run, struct failure *failure)
{
	for (size_t i = 0; i < run->child_count; i++)
		if (run->children[i].id && !end_child(run, &run->children[i], failure))
			return false;
	return !meeting_failed(run->meeting, failure) && decode_rest(run, failure);
}
