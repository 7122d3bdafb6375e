/* SPDX-License-Identifier: MIT */
/*
 * Baselines: found, read strictly, and applied to the results of a run.
 */
#include "run/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case/cases.h"
#include "case/load.h"
#include "language/merge.h"
#include "machine/require.h"
#include "machine/version.h"
#include "text/say.h"
#include "text/json_text.h"

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
	return strchr(text, '.') && !text[strspn(text, "0123456789.")] && !strstr(text, "..") &&
	       text[0] != '.' && text[strlen(text) - 1] != '.';
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
static int check_versions(const struct deviation *deviation, const char *key, const struct where *w,
			  struct error *e)
{
	const json_t *list = json_object_get(deviation->json, key);
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
		if (!when_takes(deviation->when, version) ||
		    (deviation->mend && abi_mend_is_in(deviation->mend, version)))
			return error_value(e, &at, one,
					   "a version that the entry's `when` holds for, "
					   "without the fix");
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

static int check_kernels(const struct deviation *deviation, const struct where *w, struct error *e)
{
	if (!json_object_get(deviation->json, "seen") && !json_object_get(deviation->json, "read"))
		return error_value(e, AT_KEY(w, "seen"), NULL,
				   "the versions that it was seen on, or in `read` those whose "
				   "source was read");
	return check_versions(deviation, "seen", w, e) || check_versions(deviation, "read", w, e)
		       ? -EINVAL
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

/* `fixed` may name a mend; what is said of it is where that came. */
static int take_mend(struct doc *d, struct deviation *deviation, const struct where *w)
{
	const struct abi *abi = ((const struct deviation_reading *)d->context)->cases->tables.abi;
	const char *name = deviation->fixed;
	struct nearest near;
	char versions[160], *text;

	if (!name || strncmp(name, "mend.", 5) != 0)
		return 0;
	name += 5;
	near = nearest_to(name);
	deviation->mend = abi_mend(abi, name, &near);
	if (!deviation->mend)
		return error_name(d->e, AT_KEY(w, "fixed"), deviation->fixed, near.best,
				  "mend. and the name of a mend of the ABI");
	mend_versions(deviation->mend, versions, sizeof(versions));
	text = or_exit(arena_alloc(d->arena, strlen(versions) + 1));
	deviation->fixed = strcpy(text, versions);
	return 0;
}

static int check_deviation(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	struct deviation *deviation = made;

	deviation->json = json;
	deviation->of_machine = is_of_machine(json);
	return take_mend(d, deviation, w) || check_function(json, w, d->e) ||
			       check_kernels(deviation, w, d->e)
		       ? -EINVAL
		       : 0;
}

const struct doc_type deviation_type = {
	"a deviation (id, when, function, why, seen, read, since, fixed, sometimes, note)",
	(const struct doc_row[]){
		{"id", DOC_READ, true, AT(struct deviation, ids), .read = deviation_ids,
		 .takes = "lines",
		 .help = "the cases that show it: an id, a prefix of ids up to a dot, a glob, or a "
			 "list of these",
		 .expected = "an id, the beginning of ids up to a dot, a glob, or a list of these"},
		{"when", DOC_READ, false, AT(struct deviation, when), .read = read_conditions,
		 .takes = "conditions",
		 .help = "the kernels and machines that have it; of a list, one must match; "
			 "without it, all"},
		{"function", DOC_TEXT, false, AT(struct deviation, function), .takes = "function",
		 .help = "the kernel's function that breaks the promise; a machine's entry has "
			 "none"},
		{"why", DOC_TEXT, true, AT(struct deviation, why),
		 .expected = "what that function, or machine, does wrong",
		 .help = "what it does, as the rest of a sentence that begins with the function; "
			 "for a machine, a whole sentence"},
		{"seen", DOC_ANY, false, .at = DOC_NOWHERE, .takes = "versions",
		 .help = "the kernels on which the cases failed, oldest first"},
		{"read", DOC_ANY, false, .at = DOC_NOWHERE, .takes = "versions",
		 .help = "the kernels whose source was read and has the bug, oldest first"},
		{"since", DOC_TEXT, false, AT(struct deviation, since),
		 .help = "the version or commit that introduced it"},
		{"fixed", DOC_TEXT, false, AT(struct deviation, fixed),
		 .help = "what fixed it: mend. and the name of a mend of the ABI, where the entry "
			 "ends; or a version or commit, for people"},
		{"sometimes", DOC_TEXT, false, AT(struct deviation, sometimes),
		 .help = "what can make the case pass on such a kernel: a pass is then a pass"},
		{"note", DOC_TEXT, false, .at = DOC_NOWHERE,
		 .help = "anything else that is known, such as a kernel that keeps the promise"},
		{0}},
	.size = sizeof(struct deviation), .check = check_deviation,
	.rules = "{\"$ref\": \"names.schema.json#/$defs/deviation_rules\"}"};

static bool names_case(const struct deviation *deviation, const char *id)
{
	const json_t *ids = deviation->ids, *one;

	for (size_t i = 0; (one = element(ids, i)); i++)
		if (id_matches(json_string_value(one), id))
			return true;
	return false;
}

/* Whether it is about that instance, on this machine. */
static bool deviation_holds(const struct deviation *deviation, const struct instance *instance,
			    struct environment *env)
{
	const json_t *conditions = deviation->when, *when;

	if (!names_case(deviation, instance->id) ||
	    (deviation->mend && abi_mend_is_in(deviation->mend, env->upstream)))
		return false;
	for (size_t i = 0; (when = element(conditions, i)); i++)
		if (when_holds(when, &instance->who, env))
			return true;
	return !conditions;
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

static int keep_json(struct doc *d, void *baseline, const json_t *json, const struct where *w)
{
	(void)d;
	(void)w;
	((struct baseline *)baseline)->json = json;
	return 0;
}

const struct doc_type baseline_type = {
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
	char *when = deviation->when ? or_exit(json_text(deviation->when, JSON_ENCODE_ANY)) : NULL;
	char words[900], text[2000];

	deviation_words(deviation, words, sizeof(words));
	snprintf(text, sizeof(text),
		 "passes here, though the baseline says that it fails %s%.256s (%s); "
		 "change `when` or `id` of /deviations/%zu in %s",
		 when ? "where " : "everywhere", when ? when : "", words,
		 (size_t)(deviation - baseline->list), baseline->name);
	result_set_text(&result->reason, text);
	free(when);
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
		int outcome = result->verdict.outcome;
		bool passes = outcome == PASS;

		if (passes || outcome == FAIL || (outcome == UNSTABLE && result->has_failed))
			known = baseline_find(baseline, result->instance, env);
		if (!known || (passes && answers_no(result)))
			continue;
		result->deviation = known;
		/* A distribution's kernel can have a mend that its version does not. */
		if (passes && (known->sometimes || known->mend))
			continue;
		result->verdict.outcome = passes ? XPASS : XFAIL;
		if (passes)
			say_mended(result, baseline, known);
		else
			say_known(result, known);
	}
}

/* An entry, a member a line. */
static void write_deviation(FILE *f, const json_t *entry)
{
	const char *key, *before = "    {";
	json_t *value;

	json_object_foreach((json_t *)entry, key, value) {
		char *text = or_exit(json_text(value, JSON_ENCODE_ANY));

		fprintf(f, "%s\"%s\": %s", before, key, text);
		before = ",\n     ";
		free(text);
	}
	fputs("}", f);
}

static void print_head(const json_t *baseline, const char *key, FILE *f)
{
	const json_t *value = json_object_get(baseline, key);
	char *text = value ? or_exit(json_text(value, JSON_ENCODE_ANY)) : NULL;

	if (text)
		fprintf(f, "  \"%s\": %s,\n", key, text);
	free(text);
}

/* Prints it in the form of cases/baseline.json. */
static void baseline_print(const json_t *baseline, FILE *f)
{
	const json_t *list = json_object_get(baseline, "deviations"), *entry;
	size_t i;

	fputs("{\n", f);
	print_head(baseline, "$schema", f);
	print_head(baseline, "about", f);
	fputs("  \"deviations\": [", f);
	json_array_foreach(list, i, entry) {
		fputs(i ? ",\n" : "\n", f);
		write_deviation(f, entry);
	}
	fputs(json_array_size(list) ? "\n  ]\n}\n" : "]\n}\n", f);
}

int baseline_write(const json_t *baseline, struct outfile *out)
{
	FILE *f = outfile_stream(out);

	if (!f)
		return -errno;
	baseline_print(baseline, f);
	return outfile_end(out, f, true);
}

/*
 * What a run has found, into the baseline. The function of a new entry is the one that the case
 * says keeps the promise: a place to begin to look.
 */

enum { WHY_MOST = 120 };

/* What the results of an entry say of it. */
struct findings {
	unsigned failed, passed;
};

/* "6.18.44" of "6.18.44-fc-v669". */
static void plain_version(const char *version, char *out, size_t size)
{
	size_t n = strspn(version, "0123456789.");

	while (n && version[n - 1] == '.')
		n--;
	snprintf(out, size, "%.*s", (int)n, version);
}

/* The first name in "perf_event_alloc, perf_try_init_event". */
static json_t *function_of(const struct instance *instance)
{
	const char *text = json_string_value(json_object_get(instance->spec, "kernel"));
	size_t n = 0;

	while (text && ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z') ||
			(n && text[n] >= '0' && text[n] <= '9') || text[n] == '_'))
		n++;
	return n ? json_stringn(text, n) : json_string("sys_perf_event_open");
}

/* As much of a text as there is room for; where it is cut, it says so. */
static void put_cut(const char *text, char out[WHY_MOST])
{
	if ((size_t)snprintf(out, WHY_MOST, "%s", text) >= WHY_MOST)
		memcpy(out + WHY_MOST - sizeof("..."), "...", sizeof("..."));
}

/* One line of what came in place of what, without what a baseline may not hold. */
static json_t *why_of(const struct result *result)
{
	char text[WHY_MOST * 3], got[WHY_MOST], expected[WHY_MOST];
	json_t *json;

	put_cut(result->verdict.got[0] ? result->verdict.got : "nothing", got);
	put_cut(result->verdict.expected[0] ? result->verdict.expected : "something", expected);
	snprintf(text, sizeof(text), "gives %s where %s is promised", got, expected);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
			*c = ' ';
	json = json_string(text);
	return json;
}

static bool is_of_same_case(const struct result *a, const struct result *b)
{
	return a->instance->source == b->instance->source &&
	       a->instance->case_index == b->instance->case_index;
}

static json_t *new_entry(const struct result *result, const struct abi_arch *arch,
			 const char *version)
{
	char from[96], *dot;
	json_t *when;

	/* Not from that version of a stable branch on: a later branch may have kept it longer. */
	snprintf(from, sizeof(from), ">=%s", version);
	dot = strchr(from, '.');
	dot = dot ? strchr(dot + 1, '.') : NULL;
	if (dot)
		*dot = '\0';
	when = json_pack("{s:s}", "kernel", from);
	if (arch)
		json_object_set_new(when, "arch", json_string(arch->name));
	return json_pack("{s:[s], s:o, s:o, s:o, s:[s]}", "id", result->instance->id, "when", when,
			 "function", function_of(result->instance), "why", why_of(result), "seen",
			 version);
}

/* One entry for each case; those of the same case stand beside each other. */
static void add_failures(json_t *deviations, const struct abi_arch *arch, const char *version,
			 const struct result *results, size_t count,
			 struct baseline_changes *changes)
{
	const struct result *before = NULL;
	json_t *entry = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct result *result = &results[i];

		if (result->verdict.outcome != FAIL)
			continue;
		if (before && is_of_same_case(before, result)) {
			json_array_append_new(json_object_get(entry, "id"),
					      json_string(result->instance->id));
			continue;
		}
		entry = new_entry(result, arch, version);
		json_array_append_new(deviations, entry);
		before = result;
		changes->added++;
	}
}

/* Oldest first. True if it was not there. */
static bool add_version(json_t *entry, const char *version)
{
	json_t *seen = json_object_get(entry, "seen");
	size_t i = 0;

	if (!seen) {
		seen = json_array();
		json_object_set_new(entry, "seen", seen);
	}
	while (i < json_array_size(seen) &&
	       abi_version_compare(json_string_value(json_array_get(seen, i)), version) < 0)
		i++;
	if (i < json_array_size(seen) &&
	    !abi_version_compare(json_string_value(json_array_get(seen, i)), version))
		return false;
	return !json_array_insert_new(seen, i, json_string(version));
}

/* Whether its versions are all older. */
static bool is_before(const json_t *entry, const char *version)
{
	static const char *const keys[] = {"seen", "read"};

	for (size_t k = 0; k < 2; k++) {
		const json_t *list = json_object_get(entry, keys[k]);
		size_t n = json_array_size(list);
		const char *last = n ? json_string_value(json_array_get(list, n - 1)) : NULL;

		if (last && abi_version_compare(last, version) >= 0)
			return false;
	}
	return true;
}

/* One of its conditions holds for older kernels alone from now on. */
static void end_condition(json_t *when, const char *until)
{
	json_t *kernel = json_object_get(when, "kernel"), *list = json_array();
	const json_t *one;

	for (size_t i = 0; (one = element(kernel, i)); i++)
		json_array_append(list, (json_t *)one);
	json_array_append_new(list, json_string(until));
	json_object_set_new(when, "kernel", list);
}

static void narrow(json_t *entry, const char *version)
{
	json_t *when = json_object_get(entry, "when");
	char until[96];
	size_t i;

	snprintf(until, sizeof(until), "<%s", version);
	if (json_is_array(when)) {
		json_t *one;

		json_array_foreach(when, i, one)
			end_condition(one, until);
	} else if (when) {
		end_condition(when, until);
	} else {
		json_object_set_new(entry, "when", json_pack("{s:s}", "kernel", until));
	}
}

/* What the results say of each entry. */
static struct findings *find_all(const struct baseline *baseline, const struct result *results,
				 size_t count, struct baseline_changes *changes)
{
	struct findings *findings = or_exit(calloc(baseline->count + 1, sizeof(*findings)));

	for (size_t i = 0; i < count; i++) {
		const struct result *result = &results[i];

		if (result->verdict.outcome == ERROR || result->verdict.outcome == UNSTABLE ||
		    result->differed)
			changes->left++;
		else if (result->verdict.outcome == XFAIL)
			findings[result->deviation - baseline->list].failed++;
		else if (result->verdict.outcome == XPASS)
			findings[result->deviation - baseline->list].passed++;
	}
	return findings;
}

/* An entry of a machine does not end with a kernel. */
static void take_findings(json_t *entry, bool of_machine, struct findings found,
			  const char *version, struct baseline_changes *changes)
{
	if (found.failed)
		changes->seen += add_version(entry, version);
	if (found.passed && (of_machine || found.failed || !is_before(entry, version))) {
		changes->left += found.passed;
	} else if (found.passed) {
		narrow(entry, version);
		changes->narrowed++;
	}
}

json_t *baseline_update(const struct baseline *baseline, const struct environment *env,
			const struct result *results, size_t count,
			struct baseline_changes *changes)
{
	struct findings *findings;
	json_t *json, *deviations;
	char version[80];

	*changes = (struct baseline_changes){0};
	findings = find_all(baseline, results, count, changes);
	json = baseline->json
		       ? json_deep_copy(baseline->json)
		       : json_pack("{s:s, s:[]}", "about", "What kernels break.", "deviations");
	deviations = json_object_get(json, "deviations");
	plain_version(env->upstream, version, sizeof(version));
	for (size_t i = 0; i < baseline->count; i++)
		take_findings(json_array_get(deviations, i), baseline->list[i].of_machine,
			      findings[i], version, changes);
	add_failures(deviations, env->arch, version, results, count, changes);
	free(findings);
	return json;
}
