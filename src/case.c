/* SPDX-License-Identifier: MIT */
/*
 * Case files -> instances. A file is checked as it stands, then each case of it is completed
 * (parameters, vehicle, defaults) and checked again, so that no case can run in error.
 */
#include "case.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "given.h"
#include "merge.h"
#include "require.h"

/* One case file on its way. */
struct load {
	struct cases *cases;
	const struct source *source;
	const json_t *file, *defaults;
	struct error *e;
};

static const char *const file_keys[] = {"$schema", "suite",    "about", "spec",
					"defaults", "cases", NULL};
static const char *const default_keys[] = {"as",    "vehicle", "requires", "given",
					   "open", "kind",    "alone",	  NULL};
static const char *const case_keys[] = {"name",	   "title", "about",  "as",	 "vehicle", "requires",
					"each",	   "given", "open",   "expect",	 "outcome", "kind",
					"alone",   "spec",  "covers", NULL};
static const char *const spec_keys[] = {"man", "kernel", "since", "note", NULL};
static const char *const kind_names[] = {"conformance", "capability", NULL};

static int check_keys(const json_t *object, const char *const keys[], const char *what,
		      const struct where *w, struct error *e)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return error_value(e, w, object, "%s, an object", what);
	json_object_foreach((json_t *)object, key, value) {
		struct where at = where_key(w, key);
		struct nearest near = nearest_to(key);

		if (name_index(key, keys, &near) < 0)
			return error_name(e, &at, key, near.best, "a key of %s", what);
	}
	return 0;
}

static int check_text(const json_t *object, const char *key, const struct where *w, struct error *e)
{
	const char *text = json_string_value(json_object_get(object, key));
	struct where at = where_key(w, key);

	if (text && text[strspn(text, " \n\t")])
		return 0;
	return error_value(e, &at, json_object_get(object, key), "%s: some text", key);
}

/* Words of a-z and 0-9 joined by single . or -: what KTAP, LAVA and KCIDB take unchanged. */
static bool is_id(const char *text)
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
static int check_spec(const json_t *spec, bool adds, const struct where *w, struct error *e)
{
	struct where at = where_key(w, "spec");
	const char *key;
	json_t *value;

	if (check_keys(spec, spec_keys, "spec (man, kernel, since, note)", &at, e))
		return -EINVAL;
	json_object_foreach((json_t *)spec, key, value)
		if (check_text(spec, key, &at, e))
			return -EINVAL;
	if (!adds && !json_object_get(spec, "man") && !json_object_get(spec, "kernel"))
		return error_value(e, &at, spec, "a man page section (man) or kernel function (kernel)");
	return 0;
}

static int check_kind(const json_t *object, const struct where *w, struct error *e)
{
	const json_t *kind = json_object_get(object, "kind"), *alone = json_object_get(object, "alone");
	const char *text = json_string_value(kind);
	struct where at_kind = where_key(w, "kind"), at_alone = where_key(w, "alone");
	struct nearest near = nearest_to(text ? text : "");

	if (kind && (!text || name_index(text, kind_names, &near) < 0))
		return error_name(e, &at_kind, text ? text : "", near.best,
				  "\"conformance\" or \"capability\"");
	if (alone && !json_is_boolean(alone))
		return error_value(e, &at_alone, alone, "true or false");
	return 0;
}

/* The i-th of a list of strings, or the string itself as a list of one; NULL behind the last. */
static const char *text_at(const json_t *value, size_t i)
{
	if (json_is_array(value))
		return json_string_value(json_array_get(value, i));
	return i ? NULL : json_string_value(value);
}

static size_t length_of(const json_t *value)
{
	return json_is_array(value) ? json_array_size(value) : value ? 1 : 0;
}

static int check_as(const json_t *as, const struct where *w, struct error *e)
{
	struct where at = where_key(w, "as");

	if (as && !length_of(as))
		return error_value(e, &at, as, "at least one identity");
	for (size_t i = 0; i < length_of(as); i++) {
		const char *text = text_at(as, i);
		struct where at_item = json_is_array(as) ? where_index(&at, i) : at;
		struct nearest near = nearest_to(text ? text : "");

		if (!text)
			return error_value(e, &at_item, as, "root, perfmon, sys-admin or user");
		if (name_index(text, identity_names, &near) < 0)
			return error_name(e, &at_item, text, near.best,
					  "root, perfmon, sys-admin or user");
		for (size_t j = 0; j < i; j++)
			if (!strcmp(text_at(as, j), text))
				return error_name(e, &at_item, text, NULL, "each identity once");
	}
	return 0;
}

static int check_vehicle(const json_t *vehicle, const struct cases *cases, const struct where *w,
			 struct error *e)
{
	struct where at = where_key(w, "vehicle");
	const char *known;
	json_t *value;

	if (vehicle && !length_of(vehicle))
		return error_value(e, &at, vehicle, "at least one vehicle");
	for (size_t i = 0; i < length_of(vehicle); i++) {
		const char *text = text_at(vehicle, i);
		struct where at_item = json_is_array(vehicle) ? where_index(&at, i) : at;
		struct nearest near = nearest_to(text ? text : "");

		if (!text)
			return error_value(e, &at_item, vehicle, "the name of a vehicle, or a list");
		if (json_object_get(cases->vehicles, text))
			continue;
		json_object_foreach(cases->vehicles, known, value)
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
		if (require_check(json_string_value(item), abi, &at_item, e))
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
			return error_name(e, &at_item, id, NULL, "the id of a check in checks.json");
	}
	return 0;
}

/* What a complete case and `defaults` have in common: the preparation, and the call. */
static int check_call(const json_t *json, const struct cases *cases, const struct where *w,
		      struct error *e)
{
	struct scope scope = {.checking = true};
	struct where at_given = where_key(w, "given"), at_open = where_key(w, "open");
	const json_t *open = json_object_get(json, "open");
	struct call call;

	if (check_as(json_object_get(json, "as"), w, e) || check_kind(json, w, e) ||
	    check_vehicle(json_object_get(json, "vehicle"), cases, w, e) ||
	    check_requires(json_object_get(json, "requires"), cases->abi, w, e) ||
	    given_check(json_object_get(json, "given"), cases->abi, cases->arch, &scope, &at_given,
			e))
		return -EINVAL;
	if (!open)
		return 0;
	return call_from_json(&call, cases->abi, cases->arch, open, &scope, &at_open, e);
}

static enum kind kind_of(const json_t *json)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));

	return kind && !strcmp(kind, "capability") ? CAPABILITY : CONFORMANCE;
}

static int check_complete(const json_t *json, const struct cases *cases, const struct where *w,
			  struct error *e)
{
	const json_t *expect = json_object_get(json, "expect");
	const json_t *outcome = json_object_get(json, "outcome");
	struct where at_expect = where_key(w, "expect"), at_outcome = where_key(w, "outcome");
	struct where at_open = where_key(w, "open");
	bool is_capability;

	if (check_call(json, cases, w, e) || check_covers(json_object_get(json, "covers"), cases, w, e))
		return -EINVAL;
	is_capability = kind_of(json) == CAPABILITY;
	if (!json_object_get(json, "open"))
		return error_value(e, &at_open, NULL, "the call: an object with attr");
	if (!length_of(json_object_get(json, "as"))) {
		struct where at = where_key(w, "as");

		return error_value(e, &at, NULL, "who makes the call: root, perfmon, sys-admin, user");
	}
	if (is_capability && expect)
		return error_value(e, &at_expect, expect, "no expect: a capability has an outcome");
	if (!is_capability && outcome)
		return error_value(e, &at_outcome, outcome, "no outcome: that is a capability's");
	if (is_capability)
		return outcome_check(outcome, cases, &at_outcome, e);
	if (!expect)
		return error_value(e, &at_expect, NULL, "what the kernel must answer: ok, or errno");
	return expect_check(expect, cases, &at_expect, e);
}

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
 * "$pmu.X" and "$tracepoint.X" anywhere in the call mean that it requires them. As deep as the JSON.
 * NOLINTNEXTLINE(misc-no-recursion)
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

static const json_t *own_or_default(const json_t *own, const json_t *defaults, const char *key)
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

/* The steps, with what `open` has by default under each event that they open. */
static json_t *complete_given(const json_t *given, const json_t *open)
{
	json_t *out = json_deep_copy(given), *step;
	size_t i;

	json_array_foreach(out, i, step) {
		const json_t *own = json_object_get(step, "open");

		if (own)
			json_object_set_new(step, "open", merge(open, own));
	}
	return out;
}

static json_t *complete_spec(const json_t *file, const json_t *one)
{
	json_t *general = json_object_get(file, "spec"), *own = json_object_get(one, "spec");

	return own ? merge(general, own) : json_incref(general);
}

/*
 * The case with its defaults and its vehicle merged in, as it is checked, shown and run. Members of a
 * wrong type stay as they are for the check to find.
 */
static json_t *complete(const struct cases *cases, const json_t *file, const json_t *one,
			const char *vehicle_name)
{
	const json_t *vehicle =
		vehicle_name ? json_object_get(cases->vehicles, vehicle_name) : NULL;
	const json_t *defaults = json_object_get(file, "defaults");
	const json_t *requires = json_object_get(one, "requires");
	const json_t *given = own_or_default(one, defaults, "given");
	json_t *out = json_object(), *spec = complete_spec(file, one);
	json_t *no_open = json_object();
	json_t *on_vehicle = merge(json_object_get(defaults, "open"),
				   vehicle ? json_object_get(vehicle, "open") : no_open);
	json_t *open = json_object_get(one, "open") ? merge(on_vehicle, json_object_get(one, "open"))
						    : json_incref(on_vehicle);
	json_t *all = all_requirements(one, defaults, vehicle);

	add_implied(all, open);
	set_member(out, "suite", json_object_get(file, "suite"));
	set_member(out, "name", json_object_get(one, "name"));
	set_member(out, "title", json_object_get(one, "title"));
	set_member(out, "about", json_object_get(one, "about"));
	set_member(out, "kind", own_or_default(one, defaults, "kind"));
	set_member(out, "as", own_or_default(one, defaults, "as"));
	set_member(out, "alone", own_or_default(one, defaults, "alone"));
	if (given) {
		json_object_set_new(out, "given", complete_given(given, on_vehicle));
		add_implied(all, json_object_get(out, "given"));
	}
	if (requires && !json_is_array(requires))
		set_member(out, "requires", requires);
	else if (json_array_size(all))
		set_member(out, "requires", all);
	if (json_object_size(open) || json_object_get(one, "open"))
		set_member(out, "open", open);
	set_member(out, "expect", json_object_get(one, "expect"));
	set_member(out, "outcome", json_object_get(one, "outcome"));
	json_object_set_new(out, "spec", spec);
	set_member(out, "covers", json_object_get(one, "covers"));
	json_decref(all);
	json_decref(open);
	json_decref(on_vehicle);
	json_decref(no_open);
	return out;
}

static char *make_id(const char *suite, const char *name, const char *as, const char *vehicle,
		     const char *row)
{
	char *id = NULL;
	int n = asprintf(&id, "%s.%s%s%s%s%s%s%s", suite, name, as ? "." : "", as ? as : "",
			 vehicle ? "." : "", vehicle ? vehicle : "", row ? "." : "",
			 row ? row : "");

	return n < 0 ? NULL : id;
}

static int no_memory(struct load *l)
{
	error_text(l->e, NULL, strerror(ENOMEM), "memory for the cases");
	return -ENOMEM;
}

static int add_instance(struct load *l, const struct instance *instance)
{
	struct cases *cases = l->cases;

	if (!instance->id)
		return no_memory(l);
	if ((cases->count & (cases->count - 1)) == 0) {
		size_t room = cases->count ? cases->count * 2 : 1;
		struct instance *grown = realloc(cases->list, room * sizeof(*grown));

		if (!grown) {
			free(instance->id);
			return no_memory(l);
		}
		cases->list = grown;
	}
	cases->list[cases->count++] = *instance;
	return 0;
}

static char *keep_row(struct cases *cases, const char *row)
{
	char **grown = realloc(cases->rows, (cases->row_count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	cases->rows = grown;
	return cases->rows[cases->row_count++] = strdup(row);
}

/* One instance for each identity; `like` has all that they share, `json` is the complete case. */
static int add_identities(struct load *l, const json_t *json, const struct instance *like,
			  bool vehicle_in_id)
{
	const json_t *as = json_object_get(json, "as");

	for (size_t i = 0; i < length_of(as); i++) {
		struct instance instance = *like;

		instance.as = (enum identity)identity_by_name(text_at(as, i));
		instance.kind = kind_of(json);
		instance.alone = json_is_true(json_object_get(json, "alone"));
		instance.id = make_id(like->suite, like->name,
				      json_is_array(as) ? text_at(as, i) : NULL,
				      vehicle_in_id ? like->vehicle : NULL, like->row);
		if (add_instance(l, &instance))
			return -ENOMEM;
	}
	return 0;
}

/* The text at `key`, kept: it may be one that a row's value was put into. */
static const char *keep_text(struct load *l, const json_t *one, const char *key)
{
	json_t *text = json_object_get(one, key);

	return json_array_append(l->cases->storage, text) ? NULL : json_string_value(text);
}

/* One row of a case: once on each vehicle. `one` has the row's value put in. */
static int expand_row(struct load *l, const json_t *one, struct instance *like,
		      const struct where *w)
{
	const json_t *vehicle = own_or_default(one, l->defaults, "vehicle");
	size_t count = vehicle ? length_of(vehicle) : 1;
	json_t *spec = complete_spec(l->file, one);

	if (check_vehicle(vehicle, l->cases, w, l->e)) {
		json_decref(spec);
		return -EINVAL;
	}
	if (json_array_append_new(l->cases->storage, spec))
		return no_memory(l);
	like->spec = spec;
	like->title = keep_text(l, one, "title");
	json_array_append(l->cases->storage, (json_t *)vehicle);
	for (size_t i = 0; i < count; i++) {
		json_t *json;
		int err;

		like->vehicle = vehicle ? text_at(vehicle, i) : NULL;
		json = complete(l->cases, l->file, one, like->vehicle);
		err = json ? check_complete(json, l->cases, w, l->e) : no_memory(l);
		if (!err)
			err = add_identities(l, json, like, json_is_array(vehicle));
		json_decref(json);
		if (err)
			return err;
	}
	return 0;
}

static int expand_rows(struct load *l, const json_t *one, json_t *rows, struct instance *like,
		       const struct where *w)
{
	const char *row;
	json_t *value;

	json_object_foreach(rows, row, value) {
		struct where at = *w;
		char note[80];
		json_t *filled;
		int err;

		snprintf(note, sizeof(note), "row %.64s", row);
		at.note = note;
		if (!is_id(row))
			return error_name(l->e, &at, row, NULL,
					  "a row's name of a-z and 0-9, joined by - or .");
		filled = substitute(one, like->parameter, value);
		like->row = keep_row(l->cases, row);
		like->value = value;
		if (!filled || !like->row)
			return no_memory(l);
		err = expand_row(l, filled, like, &at);
		json_decref(filled);
		if (err)
			return err;
	}
	return 0;
}

static int expand_case(struct load *l, const json_t *one, size_t index, const struct where *w)
{
	json_t *each = json_object_get(one, "each"), *rows;
	struct where at_each = where_key(w, "each");
	const char *parameter = json_object_iter_key(json_object_iter(each));
	struct where at_rows = where_key(&at_each, parameter ? parameter : "");
	struct instance like = {.suite = json_string_value(json_object_get(l->file, "suite")),
				.name = json_string_value(json_object_get(one, "name")),
				.source = l->source,
				.case_index = index,
				.file = l->file,
				.written = one,
				.parameter = parameter};

	if (!each)
		return expand_row(l, one, &like, w);
	if (!json_is_object(each) || json_object_size(each) != 1)
		return error_value(l->e, &at_each, each, "one parameter and its rows");
	if (strspn(parameter, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(parameter))
		return error_name(l->e, &at_rows, parameter, NULL, "a name of a-z, 0-9 and _");
	rows = each_rows(json_object_get(each, parameter), l->cases->abi, l->cases->arch, &at_rows,
			 l->e);
	if (!rows)
		return -EINVAL;
	if (json_array_append_new(l->cases->storage, rows))
		return no_memory(l);
	return expand_rows(l, one, rows, &like, w);
}

static int load_case(struct load *l, const json_t *one, size_t index, const struct where *w)
{
	const json_t *name = json_object_get(one, "name");
	struct where at_name = where_key(w, "name");

	if (check_keys(one, case_keys, "a case", w, l->e))
		return -EINVAL;
	if (!json_is_string(name) || !is_id(json_string_value(name)))
		return error_value(l->e, &at_name, name,
				   "a name of a-z and 0-9, joined by - or .");
	if (check_text(one, "title", w, l->e))
		return -EINVAL;
	if (json_object_get(one, "spec") && check_spec(json_object_get(one, "spec"), true, w, l->e))
		return -EINVAL;
	return expand_case(l, one, index, w);
}

/* A file's suite is its path below the root: open/size.json is open.size. */
static int check_suite(const json_t *suite, const struct source *source, const struct where *w,
		       struct error *e)
{
	struct where at = where_key(w, "suite");
	char expected[256];
	size_t n;

	if (!json_is_string(suite) || !is_id(json_string_value(suite)))
		return error_value(e, &at, suite, "the file's path with dots for slashes");
	snprintf(expected, sizeof(expected), "%s", source->name);
	n = strlen(expected);
	if (n > 5)
		expected[n - 5] = '\0'; /* .json */
	for (char *c = expected; *c; c++)
		*c = *c == '/' ? '.' : *c;
	/* A file named on the command line has no root to count from. */
	if (source->root[0] && strcmp(expected, json_string_value(suite)))
		return error_value(e, &at, suite, "\"%s\", as the file is called", expected);
	return 0;
}

static int load_file(struct cases *cases, const struct source *source, struct error *e)
{
	struct where root = where_root(source), at_cases = where_key(&root, "cases");
	struct where at_defaults = where_key(&root, "defaults");
	struct load l = {.cases = cases, .source = source, .e = e};
	json_t *file = source_parse(source, e), *one;
	size_t i;

	if (!file || json_array_append_new(cases->storage, file))
		return -EINVAL;
	l.file = file;
	l.defaults = json_object_get(file, "defaults");
	if (check_keys(file, file_keys, "a case file", &root, e) ||
	    check_suite(json_object_get(file, "suite"), source, &root, e) ||
	    check_text(file, "about", &root, e) ||
	    check_spec(json_object_get(file, "spec"), false, &root, e))
		return -EINVAL;
	if (l.defaults && (check_keys(l.defaults, default_keys, "defaults", &at_defaults, e) ||
			   check_call(l.defaults, cases, &at_defaults, e)))
		return -EINVAL;
	if (!json_array_size(json_object_get(file, "cases")))
		return error_value(e, &at_cases, json_object_get(file, "cases"), "a list of cases");
	json_array_foreach(json_object_get(file, "cases"), i, one) {
		struct where at = where_index(&at_cases, i);

		if (load_case(&l, one, i, &at))
			return -EINVAL;
	}
	return 0;
}

static const struct source *find_source(const struct sources *sources, const char *name)
{
	for (size_t i = 0; i < sources->count; i++)
		if (!strcmp(sources->list[i].name, name))
			return &sources->list[i];
	return NULL;
}

static int check_vehicles(const struct cases *cases, const struct source *source, struct error *e)
{
	struct where root = where_root(source), at_list = where_key(&root, "vehicles");
	const char *name;
	json_t *vehicle;

	json_object_foreach(cases->vehicles, name, vehicle) {
		static const char *const keys[] = {"about", "open", "requires", NULL};
		struct where at = where_key(&at_list, name);

		if (check_keys(vehicle, keys, "a vehicle", &at, e) ||
		    check_text(vehicle, "about", &at, e) || check_call(vehicle, cases, &at, e))
			return -EINVAL;
	}
	return 0;
}

/* The tables that all case files share: gates, vehicles, the kernel's checks. */
static int load_tables(struct cases *cases, const struct sources *sources, struct error *e)
{
	const struct source *phases = find_source(sources, "phases.json");
	const struct source *vehicles = find_source(sources, "vehicles.json");
	const struct source *checks = find_source(sources, "checks.json");
	json_t *file;

	if (!phases || !vehicles)
		return error_text(e, NULL, "none", "phases.json and vehicles.json");
	if (phases_load(&cases->phases, phases, cases->abi, e))
		return -EINVAL;
	file = source_parse(vehicles, e);
	if (!file)
		return -EINVAL;
	json_array_append_new(cases->storage, file);
	cases->vehicles = json_object_get(file, "vehicles");
	if (check_vehicles(cases, vehicles, e))
		return -EINVAL;
	if (!checks)
		return 0;
	file = source_parse(checks, e);
	if (!file)
		return -EINVAL;
	json_array_append_new(cases->storage, file);
	cases->checks = json_object_get(file, "checks");
	return 0;
}

static bool is_case_file(const char *name)
{
	return strncmp(name, "abi/", 4) && strcmp(name, "phases.json") &&
	       strcmp(name, "vehicles.json") && strcmp(name, "checks.json");
}

static int by_id(const void *a, const void *b)
{
	const struct instance *const *x = a, *const *y = b;

	return strcmp((*x)->id, (*y)->id);
}

static int check_duplicates(const struct cases *cases, struct error *e)
{
	const struct instance **sorted = calloc(cases->count + 1, sizeof(*sorted));

	if (!sorted) {
		error_text(e, NULL, strerror(ENOMEM), "memory for the ids");
		return -ENOMEM;
	}
	for (size_t i = 0; i < cases->count; i++)
		sorted[i] = &cases->list[i];
	qsort(sorted, cases->count, sizeof(*sorted), by_id);
	for (size_t i = 1; i < cases->count; i++) {
		struct where root = where_root(sorted[i]->source);
		struct where at_cases = where_key(&root, "cases");
		struct where at = where_index(&at_cases, sorted[i]->case_index);

		if (!strcmp(sorted[i]->id, sorted[i - 1]->id))
			error_name(e, &at, sorted[i]->id, NULL, "each id once");
	}
	free(sorted);
	return error_is_set(e) ? -EINVAL : 0;
}

int cases_load(struct cases *out, const struct abi *abi, const char *machine,
	       const struct sources *sources, const char *program)
{
	struct error e = {0};
	int broken = 0;

	*out = (struct cases){.abi = abi,
			      .arch = machine ? abi_arch(abi, machine) : NULL,
			      .storage = json_array()};
	if (!out->storage || load_tables(out, sources, &e)) {
		error_print(stderr, program, &e);
		return 1;
	}
	for (size_t i = 0; i < sources->count; i++) {
		if (!is_case_file(sources->list[i].name))
			continue;
		e = (struct error){0};
		if (!load_file(out, &sources->list[i], &e))
			continue;
		error_print(stderr, program, &e);
		broken++;
	}
	e = (struct error){0};
	if (!broken && check_duplicates(out, &e)) {
		error_print(stderr, program, &e);
		broken++;
	}
	return broken;
}

void cases_free(struct cases *cases)
{
	for (size_t i = 0; i < cases->count; i++)
		free(cases->list[i].id);
	for (size_t i = 0; i < cases->row_count; i++)
		free(cases->rows[i]);
	free(cases->rows);
	free(cases->list);
	phases_free(&cases->phases);
	json_decref(cases->storage);
	*cases = (struct cases){0};
}

int body_make(const struct cases *cases, const struct instance *instance, struct body *body)
{
	json_t *filled = instance->parameter
				 ? substitute(instance->written, instance->parameter, instance->value)
				 : json_incref((json_t *)instance->written);
	json_t *json = filled ? complete(cases, instance->file, filled, instance->vehicle) : NULL;

	json_decref(filled);
	*body = (struct body){.definition = json,
			      .given = json_object_get(json, "given"),
			      .open = json_object_get(json, "open"),
			      .expect = json_object_get(json, "expect"),
			      .outcome = json_object_get(json, "outcome"),
			      .requirements = json_object_get(json, "requires")};
	return json ? 0 : -ENOMEM;
}

void body_free(struct body *body)
{
	json_decref(body->definition);
	*body = (struct body){0};
}

const struct instance *cases_find(const struct cases *cases, const char *id, struct nearest *near)
{
	for (size_t i = 0; i < cases->count; i++) {
		if (!strcmp(cases->list[i].id, id))
			return &cases->list[i];
		if (near)
			nearest_try(near, cases->list[i].id);
	}
	return NULL;
}
