/* SPDX-License-Identifier: MIT */
/*
 * Expectations of steps made wrong, one part at a time: for mutation.
 */
#include "step/expect.h"

#include <string.h>

static json_t *flip_list(const json_t *list, const struct instance *instance,
			 struct environment *env, unsigned *index);

static json_t *flip_step(const json_t *step, const struct instance *instance,
			 struct environment *env, unsigned *index)
{
	struct where nowhere = {0};
	struct error e = {0};
	const struct verb *verb = verb_of(step, &nowhere, &e);
	const char *key = "expect";
	json_t *flipped = NULL, *out = NULL;

	if (!verb || !expect_applies(step, instance, env))
		return NULL;
	for (size_t i = 0; steps_nested[i] && !flipped; i++) {
		if (!json_is_array(json_object_get(step, steps_nested[i])))
			continue;
		key = steps_nested[i];
		flipped = flip_list(json_object_get(step, key), instance, env, index);
	}
	if (!flipped && verb->kind != PREPARES)
		flipped = step_expect_flip(step, verb, instance, env, index);
	if (flipped)
		out = json_copy((json_t *)step);
	if (out)
		json_object_set(out, key, flipped);
	json_decref(flipped);
	return out;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as lists of steps are nested */
static json_t *flip_list(const json_t *list, const struct instance *instance,
			 struct environment *env, unsigned *index)
{
	json_t *step, *out;
	size_t i;

	json_array_foreach(list, i, step) {
		json_t *flipped = flip_step(step, instance, env, index);

		if (!flipped)
			continue;
		out = json_copy((json_t *)list);
		json_array_set_new(out, i, flipped);
		return out;
	}
	return NULL;
}

json_t *steps_flip(const json_t *list, const struct instance *instance, struct environment *env,
		   unsigned index)
{
	return flip_list(list, instance, env, &index);
}
