/* SPDX-License-Identifier: MIT */
/*
 * Finding the verb of a step. Some words are a verb here and an argument there ("text", "value",
 * "signals"): the verb is the one that knows all the others.
 */
#include "step/vocabulary.h"

#include <string.h>

const char *verb_key(const struct verb *verb)
{
	return verb->key ? verb->key : verb->name;
}

const struct verb *verb_next(const struct verb *verb)
{
	if (verb && verb[1].name)
		return verb + 1;
	for (size_t i = 0; verb_lists[i]; i++) {
		if (!verb && verb_lists[i]->name)
			return verb_lists[i];
		for (const struct verb *v = verb_lists[i]; verb && v->name; v++)
			verb = v == verb ? NULL : verb; /* the first of the next list */
	}
	return NULL;
}

const struct argument *verb_argument(const struct verb *verb, const char *key)
{
	for (const struct argument *a = verb->arguments; a->key; a++)
		if (!strcmp(a->key, key))
			return a;
	return NULL;
}

/* What every verb of its kind can have beside its arguments. */
static bool knows_key(const struct verb *verb, const char *key)
{
	return verb_argument(verb, key) || !strcmp(key, "when") ||
	       (verb->binds && !strcmp(key, "bind")) ||
	       (verb->kind != PREPARES && !strcmp(key, "expect"));
}

/* Whether the step's own key says that verb, and for what has kinds, which. */
static bool is_named(const struct verb *verb, const json_t *step)
{
	const json_t *value = json_object_get(step, verb_key(verb));
	const char *text = json_string_value(value);

	return value && (!verb->key || (text && !strcmp(text, verb->name)));
}

/* How many of the step's keys it does not know; the first is *unknown. */
static size_t count_unknown(const struct verb *verb, const json_t *step, const char **unknown)
{
	const char *key;
	json_t *value;
	size_t n = 0;

	*unknown = NULL;
	json_object_foreach((json_t *)step, key, value) {
		if (knows_key(verb, key))
			continue;
		*unknown = *unknown ? *unknown : key;
		n++;
	}
	return n;
}

static int no_such_key(const struct verb *verb, const char *key, const struct where *w,
		       struct error *e)
{
	struct nearest near = nearest_to(key);
	char keys[200];
	size_t n = (size_t)snprintf(keys, sizeof(keys), "\"%s\"", verb->name);

	/* Those that it knows: `"read", size, at, bind, expect, when`. */
	for (const struct argument *a = verb->arguments; a->key; a++) {
		nearest_try(&near, a->key);
		if (a > verb->arguments && n < sizeof(keys))
			n += (size_t)snprintf(keys + n, sizeof(keys) - n, ", %s", a->key);
	}
	if (n < sizeof(keys))
		snprintf(keys + n, sizeof(keys) - n, "%s%s, when", verb->binds ? ", bind" : "",
			 verb->kind == PREPARES ? "" : ", expect");
	nearest_try(&near, "when");
	if (verb->binds)
		nearest_try(&near, "bind");
	if (verb->kind != PREPARES)
		nearest_try(&near, "expect");
	return error_name(e, w, key, near.best, "%s alone (perfabi help steps)", keys);
}

/* A key that may be a verb's, misspelt: one that would know all the others. */
static bool offer_verbs(struct nearest *near, const char *key, const json_t *step)
{
	const char *unknown;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v))
		if (!v->key && count_unknown(v, step, &unknown) == 1 && !strcmp(unknown, key))
			nearest_try(near, v->name);
	return near->best != NULL;
}

/* Whether verbs of several kinds stand under that key; then it says that none is of that name. */
static bool no_such_kind(const char *key, const json_t *value, const struct where *w,
			 struct error *e)
{
	const char *text = json_string_value(value);
	struct nearest near = nearest_to(text ? text : "");
	bool has_kinds = false;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		if (!v->key || strcmp(v->key, key) != 0)
			continue;
		has_kinds = true;
		nearest_try(&near, v->name);
	}
	if (has_kinds)
		error_name(e, AT_KEY(w, key), text ? text : "", near.best,
			   "a %s (perfabi help steps)", key);
	return has_kinds;
}

/* Says what is wrong with a step that no verb knows all the keys of. */
static void explain(const json_t *step, const struct where *w, struct error *e)
{
	const struct verb *best = NULL;
	const char *key, *unknown;
	json_t *value;
	size_t least = SIZE_MAX;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		size_t n = is_named(v, step) ? count_unknown(v, step, &unknown) : SIZE_MAX;

		if (n < least)
			best = v;
		least = n < least ? n : least;
	}
	json_object_foreach((json_t *)step, key, value) {
		struct where at = where_key(w, key);
		struct nearest near = nearest_to(key);

		if (best ? knows_key(best, key)
			 : !strcmp(key, "bind") || !strcmp(key, "expect") || !strcmp(key, "when"))
			continue;
		if (!best && no_such_kind(key, value, w, e))
			continue;
		if (offer_verbs(&near, key, step) || !best)
			error_name(e, &at, key, near.best, "a step's verb (perfabi help steps)");
		else
			no_such_key(best, key, &at, e);
	}
	error_value(e, w, step, "an object with a step's verb (perfabi help steps)");
}

const struct verb *verb_of(const json_t *step, const struct where *w, struct error *e)
{
	const char *unknown;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v))
		if (is_named(v, step) && !count_unknown(v, step, &unknown))
			return v;
	if (e)
		explain(step, w, e);
	return NULL;
}
