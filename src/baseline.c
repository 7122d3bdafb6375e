/* SPDX-License-Identifier: MIT */
/*
 * Baselines: reading them strictly, and applying them to a run.
 */
#include "baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

static int check_entry(const char *id, const json_t *reason, const struct cases *cases,
		       const struct where *w, struct error *e)
{
	struct nearest near = nearest_to(id);

	if (!json_is_string(reason) || !json_string_length(reason))
		return error_value(e, w, reason, "the reason why it is known to fail");
	for (size_t i = 0; i < cases->count; i++) {
		if (id_matches(id, cases->list[i].id))
			return 0;
		nearest_try(&near, cases->list[i].id);
	}
	return error_name(e, w, id, near.best, "the id of a case, or a glob of ids");
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
		return error_value(e, &at_xfail, xfail, "an object of \"ID\": \"reason\"");
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

void baseline_apply(const struct baseline *baseline, struct result *results, size_t count)
{
	json_t *xfail = json_object_get(baseline->json, "xfail"), *reason;
	const char *id;

	for (size_t i = 0; i < count; i++) {
		struct result *result = &results[i];

		if (result->outcome != FAIL && result->outcome != PASS)
			continue;
		json_object_foreach(xfail, id, reason) {
			if (!id_matches(id, result->instance->id))
				continue;
			result->outcome = result->outcome == FAIL ? XFAIL : XPASS;
			free(result->reason);
			result->reason = strdup(json_string_value(reason));
			break;
		}
	}
}
