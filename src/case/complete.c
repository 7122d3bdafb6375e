/* SPDX-License-Identifier: MIT */
/*
 * Putting a case together: defaults, vehicle and what is written, with the row's value put in.
 */
#include "case/complete.h"

#include <errno.h>
#include <string.h>

#include "language/merge.h"
#include "step/types.h"
#include "step/vocabulary.h"

static void add_implied_by_text(json_t *requirements, const char *text)
{
	static const char *const names[] = {"$pmu.", "$tracepoint."};

	for (size_t i = 0; i < 2; i++) {
		for (const char *at = text; (at = strstr(at, names[i])); at++) {
			size_t n = strcspn(at, "<>|+* -");

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

static json_t *case_spec(const json_t *file, const json_t *one)
{
	json_t *general = json_object_get(file, "spec"), *own = json_object_get(one, "spec");

	return own ? merge(general, own) : json_incref(general);
}

static void add_own(json_t *out, const json_t *one, const char *const keys[])
{
	for (size_t i = 0; keys[i]; i++)
		set_member(out, keys[i], json_object_get(one, keys[i]));
}

static void add_inherited(json_t *out, const json_t *one, const json_t *defaults)
{
	static const char *const keys[] = {"kind", "as", "alone", "sysctl", "cgroup", "outcome"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		set_member(out, keys[i], case_own_or_default(one, defaults, keys[i]));
}

/* What is done: the preparation, and the steps or the call, with what these require. */
static bool add_call(json_t *out, const json_t *one, const json_t *defaults, const json_t *vehicle)
{
	const json_t *steps = json_object_get(one, "steps"), *own = json_object_get(one, "open");
	const json_t *given =
		steps ? json_object_get(one, "given") : case_own_or_default(one, defaults, "given");
	const json_t *requires = json_object_get(one, "requires");
	json_t *all = all_requirements(one, defaults, vehicle), *none = json_object();
	json_t *of_vehicle = json_object_get(vehicle, "open");
	json_t *under = merge(json_object_get(defaults, "open"), of_vehicle ? of_vehicle : none);
	json_t *open = own ? merge(under, own) : json_incref(under);
	bool good = all && under && open;

	if (!steps)
		add_implied(all, open);
	good = add_steps(out, "given", given, under, all) && good;
	good = add_steps(out, "steps", steps, under, all) && good;
	if (requires && !json_is_array(requires))
		set_member(out, "requires", requires); /* for the check to find */
	else if (json_array_size(all))
		set_member(out, "requires", all);
	if (!steps && (json_object_size(open) || own))
		set_member(out, "open", open);
	json_decref(open);
	json_decref(under);
	json_decref(none);
	json_decref(all);
	return good;
}

json_t *case_complete(const json_t *file, const json_t *one, const json_t *vehicle)
{
	const json_t *defaults = json_object_get(file, "defaults");
	json_t *out = json_object(), *spec = case_spec(file, one);
	bool good = out && spec;

	set_member(out, "suite", json_object_get(file, "suite"));
	add_own(out, one, (const char *const[]){"name", "title", "about", NULL});
	add_inherited(out, one, defaults);
	good = add_call(out, one, defaults, vehicle) && good;
	add_own(out, one, (const char *const[]){"expect", "outcome", NULL});
	json_object_set_new(out, "spec", spec);
	add_own(out, one, (const char *const[]){"covers", NULL});
	if (good)
		return out;
	json_decref(out);
	return NULL;
}

/*
 * Once for a file, before anything of it is merged.
 */

/* The recursion is as deep as the JSON. NOLINTBEGIN(misc-no-recursion) */

/* What `open` becomes: a new reference, or NULL with `e` filled. */
static json_t *over_base(const json_t *open, const json_t *bases, const struct where *w,
			 struct error *e)
{
	const json_t *name = json_object_get(open, "base");
	const char *text = json_string_value(name), *known;
	const json_t *base = text ? json_object_get(json_object_get(bases, text), "open") : NULL;
	struct nearest near = nearest_to(text ? text : "");
	json_t *own, *out, *ignored;

	json_object_foreach((json_t *)bases, known, ignored)
		nearest_try(&near, known);
	if (!base) {
		error_name(e, AT_KEY(w, "base"), text ? text : "", near.best,
			   "a base event of vehicles.json");
		return NULL;
	}
	own = json_copy((json_t *)open);
	json_object_del(own, "base");
	out = own ? merge(base, own) : NULL;
	json_decref(own);
	if (!out)
		error_no_memory(e, w, "memory for a case");
	return out;
}

static int apply_to_open(json_t *holder, const json_t *bases, const struct where *w,
			 struct error *e)
{
	const json_t *open = json_object_get(holder, "open");
	json_t *whole;

	if (!json_object_get(open, "base"))
		return 0;
	whole = over_base(open, bases, w, e);
	if (!whole)
		return -EINVAL;
	return json_object_set_new(holder, "open", whole)
		       ? error_no_memory(e, w, "memory for a case")
		       : 0;
}

int bases_apply(json_t *json, const json_t *bases, const struct where *w, struct error *e)
{
	const char *key;
	json_t *value;
	size_t i;

	if (apply_to_open(json, bases, AT_KEY(w, "open"), e))
		return -EINVAL;
	json_object_foreach(json, key, value) {
		struct where at = where_key(w, key);

		if (bases_apply(value, bases, &at, e))
			return -EINVAL;
	}
	json_array_foreach(json, i, value) {
		struct where at = where_index(w, i);

		if (bases_apply(value, bases, &at, e))
			return -EINVAL;
	}
	return 0;
}

/* NOLINTEND(misc-no-recursion) */
