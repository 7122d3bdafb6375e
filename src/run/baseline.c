/* SPDX-License-Identifier: MIT */
/*
 * Baselines: reading them strictly, and applying them to a run.
 */
#include "run/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case/load.h"
#include "language/keys.h"
#include "language/one_line.h"
#include "language/one_or_list.h"

static bool is_text(const json_t *json)
{
	return json_is_string(json) && one_line(json_string_value(json));
}

/* {"when": ..., "function": ..., "reason": ..., ...}: `when` as in a case, the rest texts. */
static int check_deviation(const json_t *deviation, const struct cases *cases,
			   const struct where *w, struct error *e)
{
	static const char *const keys[] = {"when", "function", "reason", "sometimes", "note", NULL};
	const json_t *reason = json_object_get(deviation, "reason");
	struct where at_when = where_key(w, "when"), at_reason = where_key(w, "reason");
	const struct when_names names = {cases->tables.abi, cases->tables.vehicles, NULL};
	const char *key;
	json_t *value;

	if (keys_check(deviation, keys, "a deviation (when, function, reason, sometimes, note)", w,
		       e))
		return -EINVAL;
	json_object_foreach((json_t *)deviation, key, value) {
		struct where at = where_key(w, key);

		if (strcmp(key, "when") && !is_text(value))
			return error_value(e, &at, value,
					   "a line of text without control characters");
	}
	if (!reason)
		return error_value(e, &at_reason, NULL, "what that function does wrong");
	return when_check(json_object_get(deviation, "when"), &names, &at_when, e);
}

static int check_deviations(const json_t *entry, const struct cases *cases, const struct where *w,
			    struct error *e)
{
	const json_t *one;

	for (size_t i = 0; (one = element(entry, i)); i++) {
		struct where at = json_is_array(entry) ? where_index(w, i) : *w;

		if (!json_is_object(one))
			return error_value(e, &at, one, "an object of when, function and reason");
		if (check_deviation(one, cases, &at, e))
			return -EINVAL;
	}
	return 0;
}

static int check_entry(const char *id, const json_t *entry, const struct cases *cases,
		       const struct where *w, struct error *e)
{
	struct nearest near = nearest_to(id);

	if (!is_text(entry) && !json_is_object(entry) && !json_array_size(entry))
		return error_value(
			e, w, entry,
			"why it is known to fail: a line of text, an object, or a list of "
			"objects");
	if (!is_text(entry) && check_deviations(entry, cases, w, e))
		return -EINVAL;
	for (size_t i = 0; i < cases->count; i++) {
		if (id_matches(id, cases->list[i].id))
			return 0;
		nearest_try(&near, cases->list[i].id);
	}
	if (cases->are_some)
		return 0; /* one of those that were left out */
	return error_name(e, w, id, near.best,
			  "the id of a case that this run loads, or a glob of ids");
}

static int check(const json_t *json, const struct source *source, const struct cases *cases,
		 struct error *e)
{
	struct where root = where_root(source), at_xfail = where_key(&root, "xfail");
	json_t *xfail = json_object_get(json, "xfail"), *value;
	const char *key;

	json_object_foreach((json_t *)json, key, value) {
		struct where at = where_key(&root, key);

		if (strcmp(key, "xfail") && strcmp(key, "about") && strcmp(key, "$schema"))
			return error_name(e, &at, key, "xfail", "about or xfail");
	}
	if (!json_is_object(xfail))
		return error_value(e, &at_xfail, xfail,
				   "an object of \"ID\": why it is known to fail");
	json_object_foreach(xfail, key, value) {
		struct where at = where_key(&at_xfail, key);

		if (check_entry(key, value, cases, &at, e))
			return -EINVAL;
	}
	return 0;
}

int baseline_read(struct baseline *baseline, const char *path, const struct cases *cases,
		  const char *program)
{
	struct sources sources = {0};
	struct error e = {0};

	*baseline = (struct baseline){.path = path};
	if (!sources_read_file(&sources, path, &e))
		baseline->json = source_parse(&sources.list[0], &e);
	else if (!e.no_memory)
		snprintf(e.expected, sizeof(e.expected),
			 "a file of known failures, for --baseline (see ci/baseline.json)");
	if (baseline->json)
		check(baseline->json, &sources.list[0], cases, &e);
	sources_free(&sources);
	if (!error_is_set(&e))
		return 0;
	error_print(stderr, program, &e);
	baseline_free(baseline);
	return -EINVAL;
}

void baseline_free(struct baseline *baseline)
{
	json_decref(baseline->json);
	baseline->json = NULL;
}

/* What is known of an instance on this kernel. */
struct known {
	const char *function; /* NULL: not said */
	const char *reason;   /* NULL: nothing is known */
	bool sometimes;
};

static struct known known_by(const json_t *entry, const struct instance *instance,
			     struct environment *env)
{
	const json_t *one;

	if (json_is_string(entry))
		return (struct known){.reason = json_string_value(entry)};
	for (size_t i = 0; (one = element(entry, i)); i++) {
		if (when_holds(json_object_get(one, "when"), &instance->who, env))
			return (struct known){
				json_string_value(json_object_get(one, "function")),
				json_string_value(json_object_get(one, "reason")),
				json_object_get(one, "sometimes") != NULL,
			};
	}
	return (struct known){0};
}

static struct known find_known(const json_t *xfail, const struct instance *instance,
			       struct environment *env)
{
	struct known known = {0};
	const char *id;
	json_t *entry;

	json_object_foreach((json_t *)xfail, id, entry) {
		if (id_matches(id, instance->id))
			known = known_by(entry, instance, env);
		if (known.reason)
			break;
	}
	return known;
}

void baseline_apply(const struct baseline *baseline, struct environment *env,
		    struct result *results, size_t count)
{
	const json_t *xfail = json_object_get(baseline->json, "xfail");

	for (size_t i = 0; i < count; i++) {
		struct result *result = &results[i];
		struct known known = {0};
		char text[1000];

		if (result->verdict.outcome == FAIL || result->verdict.outcome == PASS)
			known = find_known(xfail, result->instance, env);
		if (!known.reason || (result->verdict.outcome == PASS && known.sometimes))
			continue;
		result->verdict.outcome = result->verdict.outcome == FAIL ? XFAIL : XPASS;
		snprintf(text, sizeof(text), "%s%s%s", known.function ? known.function : "",
			 known.function ? "() " : "", known.reason);
		free(result->reason);
		result->reason = strdup(text);
	}
}
