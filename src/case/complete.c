/* SPDX-License-Identifier: MIT */
/*
 * Putting a case together: defaults, vehicle and what is written, with the row's value put in.
 */
#include <errno.h>
#include <string.h>

#include "case/complete.h"
#include "language/merge.h"
#include "step/types.h"
#include "step/vocabulary.h"

static void add_implied_by_text(json_t *requirements, const char *text)
{
	static const char *const names[] = {"$pmu.", "$tracepoint."};

	for (size_t i = 0; i < 2; i++) {
		for (const char *at = text; (at = strstr(at, names[i])); at++) {
			size_t n = strcspn(at, "<|+* -");

			json_array_append_new(requirements, json_stringn(at + 1, n - 1));
		}
	}
}

/*
 * "$pmu.X" and "$tracepoint.X" anywhere in the call mean that it requires them. As deep as the
 * JSON. NOLINTNEXTLINE(misc-no-recursion)
 */
static void add_implied(json_t *requirements, const json_t *json)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(json) && strchr(json_string_value(json), '$'))
		add_implied_by_text(requirements, json_string_value(json));
	json_array_foreach(json, i, item)
		add_implied(requirements, item);
	json_object_foreach((json_t *)json, key, item)
		add_implied(requirements, item);
}

const json_t *case_own_or_default(const json_t *own, const json_t *defaults, const char *key)
{
	const json_t *value = json_object_get(own, key);

	return value ? value : json_object_get(defaults, key);
}

static void set_member(json_t *object, const char *key, const json_t *value)
{
	if (value)
		json_object_set(object, key, (json_t *)value);
}

static json_t *all_requirements(const json_t *one, const json_t *defaults, const json_t *vehicle)
{
	json_t *all = json_array();

	json_array_extend(all, json_object_get(defaults, "requires"));
	json_array_extend(all, json_object_get(vehicle, "requires"));
	if (json_is_array(json_object_get(one, "requires")))
		json_array_extend(all, json_object_get(one, "requires"));
	return all;
}

static bool complete_steps(json_t *steps, const json_t *open);

/*
 * Puts what `open` has by default under what a step opens, and under what steps within it do; false
 * without memory. Of a step that is in error, nothing: that is said when it is compiled. As deep as
 * lists of steps are nested. NOLINTNEXTLINE(misc-no-recursion)
 */
static bool complete_step(json_t *step, const json_t *open)
{
	const struct verb *verb = verb_of(step, NULL, NULL);
	bool good = true;

	for (const struct argument *a = verb ? verb->arguments : NULL; a && a->key; a++) {
		json_t *value = json_object_get(step, a->key);

		if (value && a->type == &argument_open)
			good = !json_object_set_new(step, a->key, merge(open, value)) && good;
		if (a->type->holds)
			good = complete_steps(value, open) && good;
	}
	return good;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool complete_steps(json_t *steps, const json_t *open)
{
	json_t *step;
	bool good = true;
	size_t i;

	json_array_foreach(steps, i, step)
		good = complete_step(step, open) && good;
	return good;
}

/* A list of steps, if there is one, as it is run; false without memory. */
static bool add_steps(json_t *out, const char *key, const json_t *steps, const json_t *open,
		      json_t *requirements)
{
	json_t *copy = steps ? json_deep_copy(steps) : NULL;
	bool good = complete_steps(copy, open);

	if (!steps)
		return true;
	add_implied(requirements, copy);
	return !json_object_set_new(out, key, copy) && good;
}

json_t *case_spec(const json_t *file, const json_t *one)
{
	json_t *general = json_object_get(file, "spec"), *own = json_object_get(one, "spec");

	return own ? merge(general, own) : json_incref(general);
}

json_t *case_complete(const json_t *file, const json_t *one, const json_t *vehicle)
{
	const json_t *defaults = json_object_get(file, "defaults");
	const json_t *requires = json_object_get(one, "requires");
	const json_t *steps = json_object_get(one, "steps");
	const json_t *given =
		steps ? json_object_get(one, "given") : case_own_or_default(one, defaults, "given");
	json_t *out = json_object(), *spec = case_spec(file, one);
	json_t *no_open = json_object();
	const json_t *vehicle_open = json_object_get(vehicle, "open");
	json_t *on_vehicle =
		merge(json_object_get(defaults, "open"), vehicle_open ? vehicle_open : no_open);
	json_t *open = json_object_get(one, "open")
			       ? merge(on_vehicle, json_object_get(one, "open"))
			       : json_incref(on_vehicle);
	json_t *all = all_requirements(one, defaults, vehicle);
	bool good = out && spec && on_vehicle && open && all;

	if (!steps)
		add_implied(all, open);
	set_member(out, "suite", json_object_get(file, "suite"));
	set_member(out, "name", json_object_get(one, "name"));
	set_member(out, "title", json_object_get(one, "title"));
	set_member(out, "about", json_object_get(one, "about"));
	set_member(out, "kind", case_own_or_default(one, defaults, "kind"));
	set_member(out, "as", case_own_or_default(one, defaults, "as"));
	set_member(out, "alone", case_own_or_default(one, defaults, "alone"));
	set_member(out, "sysctl", case_own_or_default(one, defaults, "sysctl"));
	set_member(out, "cgroup", case_own_or_default(one, defaults, "cgroup"));
	good = add_steps(out, "given", given, on_vehicle, all) && good;
	good = add_steps(out, "steps", steps, on_vehicle, all) && good;
	if (requires && !json_is_array(requires))
		set_member(out, "requires", requires);
	else if (json_array_size(all))
		set_member(out, "requires", all);
	if (!steps && (json_object_size(open) || json_object_get(one, "open")))
		set_member(out, "open", open);
	set_member(out, "expect", json_object_get(one, "expect"));
	set_member(out, "outcome", json_object_get(one, "outcome"));
	json_object_set_new(out, "spec", spec);
	set_member(out, "covers", json_object_get(one, "covers"));
	json_decref(all);
	json_decref(open);
	json_decref(on_vehicle);
	json_decref(no_open);
	if (good)
		return out;
	json_decref(out);
	return NULL;
}
