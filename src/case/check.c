/* SPDX-License-Identifier: MIT */
/*
 * Checking a case: its keys, its members' forms, and its call with all that it hangs on.
 */
#include "case/check.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "language/keys.h"
#include "text/one_line.h"
#include "language/one_or_list.h"
#include "machine/require.h"
#include "machine/sysctl.h"

static const char *const spec_keys[] = {"man", "kernel", "since", "note", NULL};
static const char *const kind_names[] = {"conformance", "capability", NULL};

int case_check_text(const json_t *object, const char *key, const struct where *w, struct error *e)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (text && one_line(text))
		return 0;
	return error_value(e, AT_KEY(w, key), json_object_get(object, key),
			   "%s: a line of text without control characters", key);
}

/* Words of a-z and 0-9 joined by single . or -: what KTAP, LAVA and KCIDB take unchanged. */
bool case_is_id(const char *text)
{
	bool in_word = false;

	for (; *text; text++) {
		if ((*text >= 'a' && *text <= 'z') || isdigit((unsigned char)*text))
			in_word = true;
		else if ((*text == '.' || *text == '-') && in_word)
			in_word = false;
		else
			return false;
	}
	return in_word;
}

/* A case's own spec only adds to its file's, which must say where the promise stands. */
int case_check_spec(const json_t *spec, bool adds, const struct where *w, struct error *e)
{
	struct where at = where_key(w, "spec");
	const char *key;
	json_t *value;

	if (keys_check(spec, spec_keys, "spec (man, kernel, since, note)", &at, e))
		return -EINVAL;
	json_object_foreach((json_t *)spec, key, value)
		if (case_check_text(spec, key, &at, e))
			return -EINVAL;
	if (!adds && !json_object_get(spec, "man") && !json_object_get(spec, "kernel"))
		return error_value(e, &at, spec,
				   "a man page section (man) or kernel function (kernel)");
	return 0;
}

static int check_kind(const json_t *object, const struct where *w, struct error *e)
{
	const json_t *kind = json_object_get(object, "kind"),
		     *alone = json_object_get(object, "alone");
	const char *text = json_string_value(kind);
	struct nearest near = nearest_to(text ? text : "");

	if (kind && (!text || name_index(text, kind_names, &near) < 0))
		return error_name(e, AT_KEY(w, "kind"), text ? text : "", near.best,
				  "\"conformance\" or \"capability\"");
	if (alone && !json_is_boolean(alone))
		return error_value(e, AT_KEY(w, "alone"), alone, "true or false");
	return 0;
}

static int check_as(const json_t *as, const struct where *w, struct error *e)
{
	struct where at = where_key(w, "as");

	if (as && !elements(as))
		return error_value(e, &at, as, "at least one identity");
	for (size_t i = 0; i < elements(as); i++) {
		const char *text = json_string_value(element(as, i));
		struct where at_item = json_is_array(as) ? where_index(&at, i) : at;
		struct nearest near = nearest_to(text ? text : "");

		if (!text)
			return error_value(e, &at_item, as, "%s", identity_choice);
		if (name_index(text, identity_names, &near) < 0)
			return error_name(e, &at_item, text, near.best, "%s", identity_choice);
		for (size_t j = 0; j < i; j++)
			if (!strcmp(json_string_value(element(as, j)), text))
				return error_name(e, &at_item, text, NULL, "each identity once");
	}
	return 0;
}

int case_check_vehicle(const json_t *vehicle, const struct cases *cases, const struct where *w,
		       struct error *e)
{
	struct where at = where_key(w, "vehicle");
	const char *known;
	json_t *value;

	if (vehicle && !elements(vehicle))
		return error_value(e, &at, vehicle, "at least one vehicle");
	for (size_t i = 0; i < elements(vehicle); i++) {
		const char *text = json_string_value(element(vehicle, i));
		struct where at_item = json_is_array(vehicle) ? where_index(&at, i) : at;
		struct nearest near = nearest_to(text ? text : "");

		if (!text)
			return error_value(e, &at_item, vehicle,
					   "the name of a vehicle, or a list");
		if (json_object_get(cases->tables.vehicles, text))
			continue;
		json_object_foreach((json_t *)cases->tables.vehicles, known, value)
			nearest_try(&near, known);
		return error_name(e, &at_item, text, near.best, "a vehicle of vehicles.json");
	}
	return 0;
}

static int check_requires(const json_t *list, const struct abi *abi, const struct where *w,
			  struct error *e)
{
	struct where at = where_key(w, "requires");
	json_t *item;
	size_t i;

	if (list && !json_is_array(list))
		return error_value(e, &at, list, "a list of tokens");
	json_array_foreach(list, i, item) {
		struct where at_item = where_index(&at, i);

		if (!json_is_string(item))
			return error_value(e, &at_item, item, "a token, as \"kernel>=5.13\"");
		if (!one_line(json_string_value(item)))
			return error_value(e, &at_item, item,
					   "a token, without control characters");
		if (require_check_any(json_string_value(item), abi, &at_item, e))
			return -EINVAL;
	}
	return 0;
}

static int check_covers(const json_t *list, const struct cases *cases, const struct where *w,
			struct error *e)
{
	struct where at = where_key(w, "covers");
	json_t *item;
	size_t i;

	if (list && !json_is_array(list))
		return error_value(e, &at, list, "a list of checks");
	json_array_foreach(list, i, item) {
		struct where at_item = where_index(&at, i);
		const char *id = json_string_value(item);

		if (!id)
			return error_value(e, &at_item, item, "the id of a check, as \"O004\"");
		if (cases->checks && !json_object_get(cases->checks, id))
			return error_name(e, &at_item, id, NULL,
					  "the id of a check in checks.json");
	}
	return 0;
}

/* What the machine is to have while the case runs: sysctls of perf, a cgroup. */
static int check_machine(const json_t *json, const struct where *w, struct error *e)
{
	json_t *sysctl = json_object_get(json, "sysctl"), *cgroup = json_object_get(json, "cgroup");
	struct where at = where_key(w, "sysctl");
	const char *name;
	json_t *value;

	if (sysctl && !json_is_object(sysctl))
		return error_value(e, &at, sysctl, "an object: {\"perf_event_paranoid\": 1}");
	json_object_foreach(sysctl, name, value) {
		struct where at_name = where_key(&at, name);
		struct nearest near = nearest_to(name);

		if (name_index(name, sysctl_names, &near) < 0)
			return error_name(e, &at_name, name, near.best, "a sysctl of perf");
		if (!json_is_integer(value))
			return error_value(e, &at_name, value, "a number");
	}
	if (cgroup && (!json_is_string(cgroup) || strcmp(json_string_value(cgroup), "v2") != 0))
		return error_value(e, AT_KEY(w, "cgroup"), cgroup, "\"v2\"");
	return 0;
}

int case_check_common(const json_t *json, const struct cases *cases, const struct where *w,
		      struct error *e)
{
	if (check_as(json_object_get(json, "as"), w, e) || check_kind(json, w, e) ||
	    case_check_vehicle(json_object_get(json, "vehicle"), cases, w, e) ||
	    check_requires(json_object_get(json, "requires"), cases->tables.abi, w, e) ||
	    check_machine(json, w, e))
		return -EINVAL;
	return 0;
}

enum kind case_kind(const json_t *json)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));

	return kind && !strcmp(kind, "capability") ? CAPABILITY : CONFORMANCE;
}

/* What only one of them has: `expect` of a call, `outcome` of a capability. */
static int check_expectation(const json_t *json, const struct where *w, struct error *e)
{
	const json_t *expect = json_object_get(json, "expect");
	const json_t *outcome = json_object_get(json, "outcome");
	struct where at_expect = where_key(w, "expect");
	bool is_capability = case_kind(json) == CAPABILITY;
	bool has_steps = json_object_get(json, "steps") != NULL;

	if (is_capability && expect)
		return error_value(e, &at_expect, expect, "no expect: a capability has an outcome");
	if (!is_capability && outcome)
		return error_value(e, AT_KEY(w, "outcome"), outcome,
				   "no outcome: that is a capability's");
	if (has_steps && expect)
		return error_value(e, &at_expect, expect, "no expect: each step has its own");
	if (!is_capability && !has_steps && !expect)
		return error_value(e, &at_expect, NULL,
				   "what the kernel must answer: ok, or errno");
	return 0;
}

int case_check_complete(const json_t *json, const struct cases *cases, const struct where *w,
			struct error *e)
{
	/* A row can have put anything in. */
	if (case_check_text(json, "title", w, e) ||
	    case_check_spec(json_object_get(json, "spec"), false, w, e) ||
	    (json_object_get(json, "about") && case_check_text(json, "about", w, e)) ||
	    case_check_common(json, cases, w, e) ||
	    check_covers(json_object_get(json, "covers"), cases, w, e))
		return -EINVAL;
	if (!json_object_get(json, "open") && !json_object_get(json, "steps"))
		return error_value(e, AT_KEY(w, "open"), NULL,
				   "the call: an object with attr, or steps");
	if (!elements(json_object_get(json, "as")))
		return error_value(e, AT_KEY(w, "as"), NULL, "who makes the call: %s",
				   identity_choice);
	return check_expectation(json, w, e);
}
