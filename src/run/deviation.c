/* SPDX-License-Identifier: MIT */
/*
 * Deviations: an entry of a baseline read strictly, and held against an instance.
 */
#include "run/deviation.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "case/cases.h"
#include "case/load.h"
#include "language/keys.h"
#include "text/one_line.h"
#include "language/one_or_list.h"

static bool is_text(const json_t *json)
{
	return json_is_string(json) && one_line(json_string_value(json));
}

static int check_texts(const json_t *entry, const struct where *w, struct error *e)
{
	static const char *const keys[] = {"function",  "why",  "since", "fixed",
					   "sometimes", "note", NULL};

	for (size_t i = 0; keys[i]; i++) {
		struct where at = where_key(w, keys[i]);
		const json_t *text = json_object_get(entry, keys[i]);

		if (text && !is_text(text))
			return error_value(e, &at, text,
					   "a line of text without control characters");
	}
	return 0;
}

/* Whether one of the entry's conditions names a machine. */
static bool is_of_machine(const json_t *entry)
{
	const json_t *conditions = json_object_get(entry, "when"), *when;

	for (size_t i = 0; (when = element(conditions, i)); i++)
		if (when_names_machine(when))
			return true;
	return false;
}

static int check_function(const json_t *entry, const struct where *w, struct error *e)
{
	const json_t *function = json_object_get(entry, "function");
	const char *name = json_string_value(function);
	struct where at = where_key(w, "function");

	if (is_of_machine(entry))
		return function ? error_value(e, &at, function,
					      "no function of the kernel: `when` names a machine, "
					      "which breaks the promise itself")
				: 0;
	if (!name || (*name >= '0' && *name <= '9') ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")])
		return error_value(e, &at, function,
				   "the name of the kernel's function that breaks the promise");
	return 0;
}

static int check_why(const json_t *entry, const struct where *w, struct error *e)
{
	struct where at = where_key(w, "why");

	if (!json_object_get(entry, "why"))
		return error_value(e, &at, NULL, "what that function, or machine, does wrong");
	return 0;
}

/* 6.18.44: numbers and dots. */
static bool is_numbers_and_dots(const char *text)
{
	const char *digits = "0123456789";
	size_t n = strspn(text, digits);

	if (!n || text[n] != '.')
		return false;
	while (n && text[n] == '.') {
		text += n + 1;
		n = strspn(text, digits);
	}
	return n && !text[n];
}

/* Whether one condition takes that version; of the machine nothing is asked. */
static bool condition_takes(const json_t *when, const char *version)
{
	json_t *kernel = json_pack("{s:O*}", "kernel", json_object_get(when, "kernel"));
	const struct who nobody = {0};
	struct environment env = {0};
	bool holds;

	snprintf(env.upstream, sizeof(env.upstream), "%s", version);
	holds = when_holds(kernel, &nobody, &env);
	json_decref(kernel);
	return holds;
}

/* The same of a list of conditions, of which one is enough; without any all do. */
static bool when_takes(const json_t *conditions, const char *version)
{
	const json_t *when;

	for (size_t i = 0; (when = element(conditions, i)); i++)
		if (condition_takes(when, version))
			return true;
	return !conditions;
}

/* `seen` or `read`: versions, each later than the one before, so that first and last are clear. */
static int check_versions(const json_t *entry, const char *key, const struct where *w,
			  struct error *e)
{
	const json_t *list = json_object_get(entry, key), *when = json_object_get(entry, "when");
	struct where at_list = where_key(w, key);
	const char *before = NULL;

	if (list && !json_array_size(list))
		return error_value(e, &at_list, list, "a list of versions: [\"6.18.44\"]");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		const char *version = json_string_value(one);
		struct where at = where_index(&at_list, i);

		if (!version || !is_numbers_and_dots(version))
			return error_value(e, &at, one, "a version of Linux, as \"6.18.44\"");
		if (before && abi_version_compare(before, version) >= 0)
			return error_value(e, &at, one, "a version later than %.32s", before);
		if (!when_takes(when, version))
			return error_value(e, &at, one,
					   "a version that the entry's `when` holds for");
		before = version;
	}
	return 0;
}

/* An empty condition would hold for every kernel, as would an empty list in one. */
static int check_says_something(const json_t *when, const struct where *w, struct error *e)
{
	const char *key;
	json_t *value;

	if (!json_object_size(when))
		return error_value(e, w, when, "a condition: {\"kernel\": \"<6.18\"}");
	json_object_foreach((json_t *)when, key, value) {
		struct where at = where_key(w, key);

		if (json_is_array(value) && !json_array_size(value))
			return error_value(e, &at, value, "at least one value");
	}
	return 0;
}

static int check_conditions(const json_t *conditions, const struct cases *cases,
			    const struct where *w, struct error *e)
{
	const struct when_names names = {cases->tables.abi, cases->tables.vehicles, NULL, true};
	const json_t *when;

	if (conditions && !elements(conditions))
		return error_value(e, w, conditions, "an object of conditions, or a list of them");
	for (size_t i = 0; (when = element(conditions, i)); i++) {
		struct where at = json_is_array(conditions) ? where_index(w, i) : *w;

		if (when_check(when, &names, &at, e) || check_says_something(when, &at, e))
			return -EINVAL;
	}
	return 0;
}

/* `when` must be well formed before it is asked about versions. */
static int check_kernels(const json_t *entry, const struct cases *cases, const struct where *w,
			 struct error *e)
{
	struct where at_when = where_key(w, "when"), at_seen = where_key(w, "seen");

	if (check_conditions(json_object_get(entry, "when"), cases, &at_when, e))
		return -EINVAL;
	if (!json_object_get(entry, "seen") && !json_object_get(entry, "read"))
		return error_value(e, &at_seen, NULL,
				   "the versions that it was seen on, or in `read` those whose "
				   "source was read");
	return check_versions(entry, "seen", w, e) || check_versions(entry, "read", w, e) ? -EINVAL
											  : 0;
}

static int check_cases(const json_t *entry, const struct cases *cases, bool are_all,
		       const struct where *w, struct error *e)
{
	const json_t *ids = json_object_get(entry, "id"), *id;
	struct where at_ids = where_key(w, "id");

	if (!elements(ids))
		return error_value(e, &at_ids, ids,
				   "an id, the beginning of ids up to a dot, a glob, or a list of "
				   "these");
	for (size_t i = 0; (id = element(ids, i)); i++) {
		struct where at = json_is_array(ids) ? where_index(&at_ids, i) : at_ids;
		struct nearest near = nearest_to(is_text(id) ? json_string_value(id) : "");

		if (!is_text(id))
			return error_value(e, &at, id, "an id, as `perfabi list` shows it");
		if (!are_all || cases_mark(cases, json_string_value(id), NULL))
			continue;
		cases_nearest(cases, true, &near);
		return error_name(e, &at, json_string_value(id), near.best,
				  "the id of a case that this run loads, or a glob of ids");
	}
	return 0;
}

static const char *text_at(const json_t *entry, const char *key)
{
	return json_string_value(json_object_get(entry, key));
}

int deviation_read(struct deviation *out, const json_t *json, const struct cases *cases,
		   bool are_all, const struct where *w, struct error *e)
{
	static const char *const keys[] = {"id",    "when",  "function",  "why",  "seen", "read",
					   "since", "fixed", "sometimes", "note", NULL};

	if (keys_check(json, keys,
		       "a deviation (id, when, function, why, seen, read, since, fixed, sometimes, "
		       "note)",
		       w, e) ||
	    check_texts(json, w, e) || check_function(json, w, e) || check_why(json, w, e) ||
	    check_kernels(json, cases, w, e) || check_cases(json, cases, are_all, w, e))
		return -EINVAL;
	*out = (struct deviation){.json = json,
				  .of_machine = is_of_machine(json),
				  .function = text_at(json, "function"),
				  .why = text_at(json, "why"),
				  .since = text_at(json, "since"),
				  .fixed = text_at(json, "fixed"),
				  .sometimes = text_at(json, "sometimes")};
	return 0;
}

static bool names_case(const struct deviation *deviation, const char *id)
{
	const json_t *ids = json_object_get(deviation->json, "id"), *one;

	for (size_t i = 0; (one = element(ids, i)); i++)
		if (id_matches(json_string_value(one), id))
			return true;
	return false;
}

bool deviation_holds(const struct deviation *deviation, const struct instance *instance,
		     struct environment *env)
{
	const json_t *conditions = json_object_get(deviation->json, "when"), *when;

	if (!names_case(deviation, instance->id))
		return false;
	for (size_t i = 0; (when = element(conditions, i)); i++)
		if (when_holds(when, &instance->who, env))
			return true;
	return !conditions;
}

/* Puts more behind what `out` holds; what has no room is cut. */
static void add_words(char *out, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_words(char *out, size_t size, const char *format, ...)
{
	size_t n = strlen(out);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(out + n, size - n, format, arguments);
	va_end(arguments);
}

static void add_values(char *out, size_t size, const json_t *values, const char *between)
{
	const json_t *one;

	for (size_t i = 0; (one = element(values, i)); i++)
		add_words(out, size, "%s %s", i ? between : "", json_string_value(one));
}

static void add_condition(char *out, size_t size, const json_t *when)
{
	const json_t *kernel = json_object_get(when, "kernel");
	const char *key;
	json_t *value;

	add_words(out, size, kernel ? "Linux" : "every Linux");
	add_values(out, size, kernel, "");
	json_object_foreach((json_t *)when, key, value) {
		const bool is_arch = !strcmp(key, "arch"), is_token = !strcmp(key, "token");

		if (value == kernel)
			continue;
		add_words(out, size, is_arch ? " on" : is_token ? " where" : ", %s", key);
		add_values(out, size, value, is_arch ? " or" : is_token ? " and" : "");
		add_words(out, size, is_token ? " holds" : "");
	}
}

const char *deviation_whose(const struct deviation *deviation)
{
	return deviation->of_machine ? "machine" : "kernel";
}

void deviation_words(const struct deviation *deviation, char *out, size_t size)
{
	snprintf(out, size, "%s%s%s", deviation->of_machine ? "" : deviation->function,
		 deviation->of_machine ? "" : "() ", deviation->why);
}

void deviation_kernels(const struct deviation *deviation, char *out, size_t size)
{
	const json_t *conditions = json_object_get(deviation->json, "when"), *when;

	snprintf(out, size, conditions ? "" : "every Linux");
	for (size_t i = 0; (when = element(conditions, i)); i++) {
		add_words(out, size, i ? " or " : "");
		add_condition(out, size, when);
	}
}
