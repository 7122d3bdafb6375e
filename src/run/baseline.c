/* SPDX-License-Identifier: MIT */
/*
 * Baselines: found, read strictly, and applied to the results of a run.
 */
#include "run/baseline.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "case/cases.h"
#include "case/load.h"
#include "language/one_or_list.h"
#include "text/one_line.h"

static int keep_json(struct doc *d, void *baseline, const json_t *json, const struct where *w)
{
	(void)d;
	(void)w;
	((struct baseline *)baseline)->json = json;
	return 0;
}

static const struct doc_type baseline_type = {
	"a baseline (about, deviations)",
	(const struct doc_row[]){{"$schema", DOC_ANY, false, .at = DOC_NOWHERE},
				 {"about", DOC_TEXT, false, .at = DOC_NOWHERE},
				 {"deviations", DOC_LIST, true, AT(struct baseline, list),
				  .type = &deviation_type,
				  .count = offsetof(struct baseline, count),
				  .expected = "a list of what kernels break"},
				 {0}},
	.size = offsetof(struct baseline, name), .check = keep_json};

int baseline_parse(struct baseline *baseline, const struct source *source,
		   const struct cases *cases, struct error *e)
{
	struct deviation_reading with = {cases, !cases->are_some && !source->is_borrowed};
	struct doc d = {&baseline->arena, e, &with};

	*baseline = (struct baseline){0};
	snprintf(baseline->name, sizeof(baseline->name), "%s%s%s", source->root,
		 source->root[0] ? "/" : "", source->name);
	return doc_load(&d, &baseline_type, source, baseline);
}

static int read_file(struct baseline *baseline, const char *path, const struct cases *cases,
		     struct error *e)
{
	struct sources sources = {0};
	int err = sources_read_file(&sources, path, e);

	if (err && !e->no_memory)
		snprintf(e->expected, sizeof(e->expected),
			 "a file of known deviations for --baseline, as cases/baseline.json is, or "
			 "none");
	if (!err)
		err = baseline_parse(baseline, &sources.list[0], cases, e);
	sources_free(&sources);
	return err;
}

int baseline_load(struct baseline *baseline, const char *choice, const struct loaded *loaded,
		  const char *program)
{
	const struct source *beside = sources_find(&loaded->sources, "baseline.json");
	struct error e = {0};

	*baseline = (struct baseline){0};
	if (choice && !baseline_is_none(choice))
		read_file(baseline, choice, &loaded->cases, &e);
	else if (!choice && beside)
		baseline_parse(baseline, beside, &loaded->cases, &e);
	if (!error_is_set(&e))
		return 0;
	error_print(stderr, program, &e);
	baseline_free(baseline);
	return e.no_memory ? EXIT_HARNESS : EXIT_USAGE;
}

bool baseline_is_none(const char *choice)
{
	return choice && !strcmp(choice, "none");
}

void baseline_free(struct baseline *baseline)
{
	arena_free(&baseline->arena);
	*baseline = (struct baseline){0};
}

const struct deviation *baseline_find(const struct baseline *baseline,
				      const struct instance *instance, struct environment *env)
{
	for (size_t i = 0; i < baseline->count; i++)
		if (deviation_holds(&baseline->list[i], instance, env))
			return &baseline->list[i];
	return NULL;
}

static void say_known(struct result *result, const struct deviation *deviation)
{
	char words[900], text[1000];

	deviation_words(deviation, words, sizeof(words));
	snprintf(text, sizeof(text), "%s%s%s%s",
		 deviation->of_machine ? "this machine, not its kernel: " : "", words,
		 deviation->fixed ? "; fixed in " : "", deviation->fixed ? deviation->fixed : "");
	result_set_text(&result->reason, text);
}

/* That the entry is not right, and what in it is to be changed. */
static void say_mended(struct result *result, const struct baseline *baseline,
		       const struct deviation *deviation)
{
	char kernels[256], words[900], text[2000];

	deviation_kernels(deviation, kernels, sizeof(kernels));
	deviation_words(deviation, words, sizeof(words));
	snprintf(text, sizeof(text),
		 "passes here, though the baseline says that %s breaks it (%s); change "
		 "`when` or `id` of /deviations/%zu in %s",
		 kernels, words, (size_t)(deviation - baseline->list), baseline->name);
	result_set_text(&result->reason, text);
}

/* A capability that is not there, as the baseline has it: the case found that out, and passes. */
static bool answers_no(const struct result *result)
{
	return result->verdict.capability[0] && strcmp(result->verdict.capability, "yes") != 0;
}

void baseline_apply(const struct baseline *baseline, struct environment *env,
		    struct result *results, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct result *result = &results[i];
		const struct deviation *known = NULL;
		bool passes = result->verdict.outcome == PASS;

		if (passes || result->verdict.outcome == FAIL)
			known = baseline_find(baseline, result->instance, env);
		if (!known || (passes && (known->sometimes || answers_no(result))))
			continue;
		result->deviation = known;
		result->verdict.outcome = passes ? XPASS : XFAIL;
		if (passes)
			say_mended(result, baseline, known);
		else
			say_known(result, known);
	}
}

/*
 * Deviations: an entry of a baseline read strictly, and held against an instance.
 */

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

static int read_conditions(struct doc *d, const json_t *conditions, void *at_when,
			   const struct where *w)
{
	const struct cases *cases = ((const struct deviation_reading *)d->context)->cases;
	const struct when_names names = {cases->tables.abi, cases->tables.vehicles, NULL, true};
	const json_t *when;

	*(const json_t **)at_when = conditions;
	if (!elements(conditions))
		return error_value(d->e, w, conditions,
				   "an object of conditions, or a list of them");
	for (size_t i = 0; (when = element(conditions, i)); i++) {
		struct where at = json_is_array(conditions) ? where_index(w, i) : *w;

		if (when_check(when, &names, &at, d->e) || check_says_something(when, &at, d->e))
			return -EINVAL;
	}
	return 0;
}

static int check_kernels(const json_t *entry, const struct where *w, struct error *e)
{
	if (!json_object_get(entry, "seen") && !json_object_get(entry, "read"))
		return error_value(e, AT_KEY(w, "seen"), NULL,
				   "the versions that it was seen on, or in `read` those whose "
				   "source was read");
	return check_versions(entry, "seen", w, e) || check_versions(entry, "read", w, e) ? -EINVAL
											  : 0;
}

static int deviation_ids(struct doc *d, const json_t *ids, void *at_ids, const struct where *w)
{
	const struct deviation_reading *r = d->context;
	const json_t *id;

	*(const json_t **)at_ids = ids;
	if (!elements(ids))
		return error_value(d->e, w, ids,
				   "an id, the beginning of ids up to a dot, a glob, or a list of "
				   "these");
	for (size_t i = 0; (id = element(ids, i)); i++) {
		struct where at = json_is_array(ids) ? where_index(w, i) : *w;
		const char *text = json_string_value(id);
		struct nearest near = nearest_to(text ? text : "");

		if (!text || !one_line(text))
			return error_value(d->e, &at, id, "an id, as `perfabi list` shows it");
		if (!r->are_all || cases_mark(r->cases, text, NULL))
			continue;
		cases_nearest(r->cases, true, &near);
		return error_name(d->e, &at, text, near.best,
				  "the id of a case that this run loads, or a glob of ids");
	}
	return 0;
}

static int check_deviation(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	struct deviation *deviation = made;

	deviation->json = json;
	deviation->of_machine = is_of_machine(json);
	return check_function(json, w, d->e) || check_kernels(json, w, d->e) ? -EINVAL : 0;
}

const struct doc_type deviation_type = {
	"a deviation (id, when, function, why, seen, read, since, fixed, sometimes, note)",
	(const struct doc_row[]){
		{"id", DOC_READ, true, AT(struct deviation, ids), .read = deviation_ids,
		 .expected = "an id, the beginning of ids up to a dot, a glob, or a list of these"},
		{"when", DOC_READ, false, AT(struct deviation, when), .read = read_conditions},
		{"function", DOC_TEXT, false, AT(struct deviation, function)},
		{"why", DOC_TEXT, true, AT(struct deviation, why),
		 .expected = "what that function, or machine, does wrong"},
		{"seen", DOC_ANY, false, .at = DOC_NOWHERE},
		{"read", DOC_ANY, false, .at = DOC_NOWHERE},
		{"since", DOC_TEXT, false, AT(struct deviation, since)},
		{"fixed", DOC_TEXT, false, AT(struct deviation, fixed)},
		{"sometimes", DOC_TEXT, false, AT(struct deviation, sometimes)},
		{"note", DOC_TEXT, false, .at = DOC_NOWHERE},
		{0}},
	.size = sizeof(struct deviation), .check = check_deviation};

static bool names_case(const struct deviation *deviation, const char *id)
{
	const json_t *ids = deviation->ids, *one;

	for (size_t i = 0; (one = element(ids, i)); i++)
		if (id_matches(json_string_value(one), id))
			return true;
	return false;
}

bool deviation_holds(const struct deviation *deviation, const struct instance *instance,
		     struct environment *env)
{
	const json_t *conditions = deviation->when, *when;

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
	const json_t *conditions = deviation->when, *when;

	snprintf(out, size, conditions ? "" : "every Linux");
	for (size_t i = 0; (when = element(conditions, i)); i++) {
		add_words(out, size, i ? " or " : "");
		add_condition(out, size, when);
	}
}
