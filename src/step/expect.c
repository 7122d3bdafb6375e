/* SPDX-License-Identifier: MIT */
/*
 * `expect` of a step: read, judged by, turned round.
 */
#include "step/expect.h"

#include <errno.h>
#include <string.h>

#include "language/pattern.h"
#include "case/record_members.h"

/* A list in which an element has `when` is one of alternatives; any other is a pattern. */
static bool is_alternatives(const json_t *expect)
{
	json_t *item;
	size_t i;

	json_array_foreach(expect, i, item)
		if (json_object_get(item, "when"))
			return true;
	return false;
}

/* The pattern that an alternative has on what was seen; a new reference, or NULL. */
static json_t *pattern_of(const json_t *expect)
{
	json_t *pattern;

	if (!json_is_object(expect))
		return json_incref((json_t *)expect);
	pattern = json_copy((json_t *)expect);
	json_object_del(pattern, "when");
	json_object_del(pattern, "ok");
	json_object_del(pattern, "errno");
	if (json_object_size(pattern))
		return pattern;
	json_decref(pattern);
	return NULL;
}

static int check_errno(const json_t *expect, const struct verb *verb, const struct where *w,
		       struct error *e)
{
	const json_t *name = json_object_get(expect, "errno");
	const char *text = json_string_value(name);
	struct nearest near = nearest_to(text ? text : "");
	struct where at = where_key(w, "errno");

	if (verb->kind != CALLS)
		return error_value(e, &at, name, "no errno: %s is no call that is under test",
				   verb->name);
	if (!text || !errno_by_name(text, &near))
		return error_name(e, &at, text ? text : "", near.best, "the name of an errno");
	return 0;
}

static int check_alternative(const json_t *expect, const struct verb *verb,
			     const struct cases *cases, struct scope *scope, const struct where *w,
			     struct error *e)
{
	struct where at = where_key(w, "when");
	json_t *pattern;
	int err = expect_check_when(json_object_get(expect, "when"), cases, &at, e);

	if (!err && json_object_get(expect, "errno"))
		err = check_errno(expect, verb, w, e);
	if (err)
		return err;
	pattern = pattern_of(expect);
	err = pattern ? pattern_check(pattern, scope, w, e) : 0;
	if (!err && pattern && verb->kind == SHOWS_RECORDS)
		err = record_members_check(cases->record_members, pattern, w, e);
	json_decref(pattern);
	return err;
}

int step_expect_check(const json_t *expect, const struct verb *verb, const struct cases *cases,
		      struct scope *scope, const struct where *w, struct error *e)
{
	json_t *item;
	size_t i;

	if (!is_alternatives(expect))
		return check_alternative(expect, verb, cases, scope, w, e);
	json_array_foreach(expect, i, item) {
		struct where at = where_index(w, i);

		if (check_alternative(item, verb, cases, scope, &at, e))
			return -EINVAL;
	}
	return 0;
}

/* The alternative that applies; NULL with *missing if none does. */
static const json_t *choose(const json_t *expect, const struct instance *instance,
			    struct environment *env, bool *missing)
{
	json_t *item;
	size_t i;

	*missing = false;
	if (!is_alternatives(expect))
		return expect;
	json_array_foreach(expect, i, item)
		if (expect_applies(item, instance, env))
			return item;
	*missing = true;
	return NULL;
}

static bool judge_seen(struct step *s, const json_t *expect, struct failure *f)
{
	json_t *pattern = pattern_of(expect);
	struct mismatch why = {0};
	bool fits = !pattern || pattern_match_json(pattern, s->seen, s->scope, &why);

	json_decref(pattern);
	if (why.unknown[0])
		return failure_set(f, ERROR, "names in expect that stand for something",
				   why.unknown);
	if (fits)
		return true;
	f->outcome = FAIL;
	snprintf(f->expected, sizeof(f->expected), "%s%s%s", why.path, why.path[0] ? " " : "",
		 why.expected);
	snprintf(f->got, sizeof(f->got), "%s", why.got);
	return false;
}

bool step_expect_judge(struct step *s, struct failure *f)
{
	bool missing;
	const json_t *expect =
		choose(json_object_get(s->json, "expect"), s->run->instance, s->run->env, &missing);
	const char *name = json_string_value(json_object_get(expect, "errno"));
	int wanted = name ? errno_by_name(name, NULL) : 0;

	if (missing)
		return failure_set(f, ERROR, "an alternative of expect that applies here", "none");
	f->err = s->err;
	if (s->err != wanted)
		return failure_set(f, FAIL, wanted ? name : "success",
				   s->err ? strerrorname_np(s->err) : "success");
	return judge_seen(s, expect, f);
}

/* An expectation turned round: of an errno, success; of success where nothing is shown, EINVAL. */
json_t *step_expect_flip(const json_t *step, const struct verb *verb,
			 const struct instance *instance, struct environment *env, unsigned *index)
{
	bool missing;
	const json_t *expect = choose(json_object_get(step, "expect"), instance, env, &missing);
	json_t *wanted = json_object_get(expect, "errno"), *pattern = pattern_of(expect);
	json_t *flipped = NULL;

	if (pattern)
		flipped = pattern_flip(pattern, index);
	if (flipped && wanted)
		json_object_set(flipped, "errno", wanted);
	if (!flipped && verb->kind == CALLS && !(*index)--)
		flipped = wanted ? json_pack("{s:b}", "ok", 1)
				 : json_pack("{s:s}", "errno", "EINVAL");
	json_decref(pattern);
	return flipped;
}
