/* SPDX-License-Identifier: MIT */
/*
 * The parts of a case in the order in which they know of each other: what `given` binds, the call
 * or the steps may name.
 */
#include "case/case.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "language/merge.h"
#include "machine/require.h"
#include "machine/sysctl.h"
#include "text/say.h"

static void add_sysctl(struct sysctl_set *set, const char *text)
{
	for (size_t i = 0; text && sysctl_names[i]; i++) {
		size_t all = strlen(text), n = strlen(sysctl_names[i]);

		if (all >= n && !strcmp(text + all - n, sysctl_names[i]))
			set->has[i] = true;
	}
}

static int add_written(void *context, struct statement *statement)
{
	add_sysctl(context, json_string_value(statement_json(statement, "write")));
	return 0;
}

static void find_sysctls(struct program *program)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)program->sysctl, name, value)
		add_sysctl(&program->sysctls, name);
	block_visit(&program->given, NULL, NULL, add_written, &program->sysctls);
	block_visit(&program->steps, NULL, NULL, add_written, &program->sysctls);
	/* sysctl_write() may have to move the one for the other. */
	if (program->sysctls.has[SYSCTL_MAX_SAMPLE_RATE])
		program->sysctls.has[SYSCTL_CPU_TIME_MAX_PERCENT] = true;
}

static int compile_own_steps(struct compiling *c, struct program *out, const json_t *json,
			     const struct where *w)
{
	struct where at = where_key(w, "steps");
	const json_t *steps = json_object_get(json, "steps");

	if (!json_array_size(steps))
		return error_value(c->error, &at, steps, "a list of steps");
	return block_compile(c, &out->steps, steps, &at);
}

/* `open` and `expect` of a case are a program of that one step. A refusal says its gate. */
static int compile_call(struct compiling *c, struct program *out, const json_t *open,
			const json_t *expect, const struct where *w)
{
	json_t *step = json_pack("{s:O,s:O*}", "open", open, "expect", expect);
	int err = block_compile_one(c, &out->steps, arena_keep(c->arena, step), w);

	for (size_t i = 0; !err && i < out->steps.list->alternative_count; i++) {
		const struct alternative *x = &out->steps.list->alternatives[i];

		if (x->err && x->phase < 0)
			err = error_value(c->error, AT_KEY(AT_KEY(w, "expect"), "phase"), NULL,
					  "the gate that refuses, as \"copy\"");
	}
	return err;
}

/* What is done, and what must come of it. */
static int compile_parts(struct compiling *c, struct program *out, const json_t *json,
			 const struct where *w)
{
	const json_t *open = json_object_get(json, "open");
	int err;

	if (json_object_get(json, "cgroup"))
		scope_bind(c->scope, "cgroup", 0);
	err = block_compile(c, &out->given, json_object_get(json, "given"), AT_KEY(w, "given"));
	if (!err && out->definition && !out->is_call)
		err = compile_own_steps(c, out, json, w);
	else if (!err && open) /* of what is no whole case yet, nothing must come */
		err = compile_call(c, out, open,
				   out->definition ? json_object_get(json, "expect") : NULL, w);
	if (!err && out->is_capability)
		err = outcomes_compile(c, &out->outcomes, json_object_get(json, "outcome"),
				       out->is_call, AT_KEY(w, "outcome"));
	return err;
}

const struct abi_arch *case_arch(const json_t *requirements, const struct abi *abi)
{
	const struct abi_arch *arch = NULL;
	json_t *item;
	size_t i;

	json_array_foreach(requirements, i, item)
		arch = arch || !json_is_string(item) ? arch
						     : require_arch(json_string_value(item), abi);
	return arch;
}

bool case_is_without_call(const json_t *requirements)
{
	json_t *item;
	size_t i;

	json_array_foreach(requirements, i, item)
		if (!strcmp(json_string_value(item), "!perf_event_open"))
			return true;
	return false;
}

static struct compiling begin(const json_t *definition, const struct cases *cases,
			      const struct row_context *row, struct scope *scope,
			      struct arena *arena, struct error *e)
{
	const struct abi *abi = cases->tables.abi;

	return (struct compiling){
		.tables = &cases->tables,
		.arch = case_arch(json_object_get(definition, "requires"), abi),
		.names = {abi, cases->tables.vehicles, row ? row->rows : NULL, false},
		.parameter = row ? row->parameter : NULL,
		.scope = scope,
		.arena = arena,
		.error = e};
}

int case_compile(struct program *out, json_t *definition, const struct cases *cases,
		 const struct row_context *row, const struct where *w, struct error *e)
{
	struct scope scope = {.checking = true};
	struct compiling c = begin(definition, cases, row, &scope, &out->arena, e);
	int err;

	*out = (struct program){.definition = definition,
				.is_call = !json_object_get(definition, "steps"),
				.is_capability = case_kind(definition) == CAPABILITY,
				.requirements = json_object_get(definition, "requires"),
				.sysctl = json_object_get(definition, "sysctl"),
				.has_cgroup = json_object_get(definition, "cgroup") != NULL,
				.is_expendable = json_object_get(definition, "machine") != NULL};
	err = compile_parts(&c, out, definition, w);
	if (!err)
		find_sysctls(out);
	scope_free(&scope);
	return err;
}

/*
 * Reading a case, and what it is made of: its keys, and its members' forms.
 */

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

static int read_case_name(struct doc *d, const json_t *json, void *name, const struct where *w)
{
	const char *text = json_string_value(json);

	(void)name;
	return text && case_is_id(text)
		       ? 0
		       : error_value(d->e, w, json, "a name of a-z and 0-9, joined by - or .");
}

static int check_spec(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	(void)made;
	return json_object_get(json, "man") || json_object_get(json, "kernel")
		       ? 0
		       : error_value(d->e, w, json,
				     "a man page section (man) or kernel function (kernel)");
}

static const struct doc_row spec_rows[] = {
	{"man", .kind = DOC_TEXT, .help = "the section of the man page"},
	{"kernel", .kind = DOC_TEXT, .help = "the kernel's function"},
	{"since", .kind = DOC_TEXT, .help = "the version that introduced the promise"},
	{"note", .kind = DOC_TEXT, .help = "more details; what the man page says instead"},
	{.key = NULL}};

/* A case's own spec only adds to its file's, which must say where the promise stands. */
static const struct doc_type own_spec_type = {"spec (man, kernel, since, note)", .rows = spec_rows};
const struct doc_type case_spec_type = {
	"spec (man, kernel, since, note)", .rows = spec_rows, .check = check_spec,
	.rules = "{\"anyOf\": [{\"required\": [\"man\"]}, {\"required\": [\"kernel\"]}]}"};

static int check_identity(struct doc *d, const json_t *json, void *none, const struct where *w)
{
	const char *text = json_string_value(json);
	struct nearest near = nearest_to(text);

	(void)none;
	return name_index(text, identity_names, &near) >= 0
		       ? 0
		       : error_name(d->e, w, text, near.best, "%s", identity_choice);
}

static int check_vehicle(struct doc *d, const json_t *json, void *none, const struct where *w)
{
	const struct cases *cases = d->context;
	const char *text = json_string_value(json), *known;
	struct nearest near = nearest_to(text);
	json_t *value;

	(void)none;
	if (json_object_get(cases->tables.vehicles, text))
		return 0;
	json_object_foreach((json_t *)cases->tables.vehicles, known, value)
		nearest_try(&near, known);
	return error_name(d->e, w, text, near.best, "a vehicle of vehicles.json");
}

static int check_requirement(struct doc *d, const json_t *json, void *none, const struct where *w)
{
	const struct cases *cases = d->context;

	(void)none;
	return require_check_any(json_string_value(json), cases->tables.abi, w, d->e);
}

static int check_covered(struct doc *d, const json_t *json, void *none, const struct where *w)
{
	const struct cases *cases = d->context;
	const char *id = json_string_value(json);

	(void)none;
	return cases->checks && !json_object_get(cases->checks, id)
		       ? error_name(d->e, w, id, NULL, "the id of a check in checks.json")
		       : 0;
}

static int check_sysctls(struct doc *d, const json_t *json, void *none, const struct where *w)
{
	const char *name;
	json_t *value;

	(void)none;
	if (!json_is_object(json))
		return error_value(d->e, w, json, "an object: {\"perf_event_paranoid\": 1}");
	json_object_foreach((json_t *)json, name, value) {
		struct nearest near = nearest_to(name);

		if (name_index(name, sysctl_names, &near) < 0)
			return error_name(d->e, AT_KEY(w, name), name, near.best,
					  "a sysctl of perf");
		if (!json_is_integer(value) || json_integer_value(value) < INT_MIN ||
		    json_integer_value(value) > INT_MAX)
			return error_value(
				d->e, AT_KEY(w, name), value,
				"a number of 32 bits, or a parameter of `each` that is one");
	}
	return 0;
}

static const char *const kind_names[] = {"conformance", "capability", NULL};
static const char *const cgroup_names[] = {"v2", NULL};
static const char *const machine_names[] = {"expendable", NULL};

/* What a complete case and `defaults` have in common: who, on what, under which conditions. */
#define COMMON_ROWS                                                                                \
	{"vehicle",                                                                                \
	 .kind = DOC_NAMES,                                                                        \
	 .read = check_vehicle,                                                                    \
	 .expected = "the name of a vehicle",                                                      \
	 .takes = "vehicle",                                                                       \
	 .help = "an event of vehicles.json, whose open is merged in; a list runs the case once "  \
		 "on each"},                                                                       \
		REQUIRES,                                                                          \
		{"kind", .kind = DOC_WORD, .words = kind_names,                                    \
		 .expected = "\"conformance\" or \"capability\"",                                  \
		 .help = "conformance (the default), or capability, which has outcome instead of " \
			 "expect"},                                                                \
		{"alone", .kind = DOC_TRUTH, .help = "no other case runs at the same time"},       \
		{"sysctl", .kind = DOC_READ, .read = check_sysctls, .takes = "sysctls",            \
		 .help = "the values of perf's sysctls while the case runs"},                      \
		{"cgroup", .kind = DOC_WORD, .words = cgroup_names, .expected = "\"v2\"",          \
		 .help = "a cgroup for this case: $cgroup.path, .name, .id and .fd"},              \
		{"machine", .kind = DOC_WORD, .words = machine_names,                              \
		 .expected = "\"expendable\"",                                                     \
		 .help = "expendable: the case changes what perfabi does not restore; it runs "    \
			 "alone, and only with --expendable"},                                     \
		{"given", .kind = DOC_ANY, .takes = "steps",                                       \
		 .help = "steps that prepare the call"},                                           \
		OPEN,                                                                              \
	{                                                                                          \
		"outcome", .kind = DOC_ANY, .takes = "outcome",                                    \
			   .help = "for a capability: the results that mean yes, no and denied; "  \
				   "any other errno is a failure"                                  \
	}

#define OPEN                                                                                       \
	{                                                                                          \
		"open", .kind = DOC_ANY, .takes = "case.schema.json#/$defs/open",                  \
			.help = "the call"                                                         \
	}
#define REQUIRES                                                                                   \
	{                                                                                          \
		"requires", .kind = DOC_STRINGS, .read = check_requirement, .takes = "token",      \
			    .expected = "a token, as \"kernel>=5.13\"",                            \
			    .help = "tokens; all must hold, or the case is skipped"                \
	}
#define AS(required)                                                                               \
	{                                                                                          \
		"as", .kind = DOC_NAMES, .is_required = required, .read = check_identity,          \
		      .expected = identity_choice, .takes = "identity",                            \
		      .help = "the caller; a list runs the case once as each; required, here or "  \
			      "in defaults"                                                        \
	}

/* Whether `given` and `open` of defaults or a vehicle could be compiled. */
static int check_call(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	const struct cases *cases = d->context;
	struct scope scope = {.checking = true};
	struct program program = {0};
	struct compiling c = begin(json, cases, NULL, &scope, &program.arena, d->e);
	int err = compile_parts(&c, &program, json, w);

	(void)made;
	scope_free(&scope);
	program_free(&program);
	return err;
}

static const struct doc_row default_rows[] = {AS(false), COMMON_ROWS, {.key = NULL}};
const struct doc_type case_defaults_type = {"defaults", .rows = default_rows, .check = check_call};

/* What only one of them has: `expect` of a call, `outcome` of a capability. */
static int check_expectation(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	const json_t *expect = json_object_get(json, "expect");
	const json_t *outcome = json_object_get(json, "outcome");
	struct where at_expect = where_key(w, "expect");
	bool is_capability = case_kind(json) == CAPABILITY;
	bool has_steps = json_object_get(json, "steps") != NULL;

	(void)made;
	if (!has_steps && !json_object_get(json, "open"))
		return error_value(d->e, AT_KEY(w, "open"), NULL,
				   "the call: an object with attr, or steps");
	if (is_capability && expect)
		return error_value(d->e, &at_expect, expect,
				   "no expect: a capability has an outcome");
	if (!is_capability && outcome)
		return error_value(d->e, AT_KEY(w, "outcome"), outcome,
				   "no outcome: that is a capability's");
	if (has_steps && expect)
		return error_value(d->e, &at_expect, expect, "no expect: each step has its own");
	if (!is_capability && !has_steps && !expect)
		return error_value(d->e, &at_expect, NULL,
				   "what the kernel must answer: ok, or errno");
	return 0;
}

/* A case as case_complete() puts it together: a row can have put anything in. */
static const struct doc_row complete_rows[] = {
	{"suite", .kind = DOC_ANY},
	{"name", .kind = DOC_ANY},
	{"title", .kind = DOC_TEXT, .is_required = true},
	{"about", .kind = DOC_TEXT, .help = "more about the case, in one line"},
	{"spec", .kind = DOC_OBJECT, .is_required = true, .type = &case_spec_type},
	AS(true),
	COMMON_ROWS,
	{"covers", .kind = DOC_STRINGS, .read = check_covered, .takes = "check",
	 .expected = "the id of a check, as \"O004\"",
	 .help = "the kernel's checks (checks.json) that the case tests"},
	{"steps", .kind = DOC_ANY, .takes = "some_steps",
	 .help = "the steps, in order, each with its expect"},
	{"expect", .kind = DOC_ANY, .takes = "expect",
	 .help = "the promised result, or a list of alternatives; the first whose when holds is "
		 "used"},
	{.key = NULL}};
const struct doc_type case_complete_type = {"a case", .rows = complete_rows,
					    .check = check_expectation};

/* A case as it stands, before anything is put in: the members of a complete one, unread. */
static const struct doc_row case_rows[] = {
	{"name", .kind = DOC_READ, .is_required = true, .read = read_case_name, .takes = "id",
	 .expected = "a name of a-z and 0-9, joined by - or .",
	 .help = "words of a-z and 0-9, joined by - or a dot; after a release an id never changes "
		 "its meaning"},
	{"title", .kind = DOC_TEXT, .is_required = true, .help = "the promise, in one line"},
	{"spec", .kind = DOC_OBJECT, .type = &own_spec_type,
	 .help = "differences from the file's spec"},
	{"each", .kind = DOC_ANY, .takes = "each",
	 .help = "one parameter and its rows; the case runs once for each row"},
	{"about", .kind = DOC_ANY},
	{"as", .kind = DOC_ANY},
	{"vehicle", .kind = DOC_ANY},
	{"requires", .kind = DOC_ANY},
	{"given", .kind = DOC_ANY},
	{"open", .kind = DOC_ANY},
	{"expect", .kind = DOC_ANY},
	{"steps", .kind = DOC_ANY},
	{"outcome", .kind = DOC_ANY},
	{"kind", .kind = DOC_ANY},
	{"alone", .kind = DOC_ANY},
	{"covers", .kind = DOC_ANY},
	{"sysctl", .kind = DOC_ANY},
	{"machine", .kind = DOC_ANY},
	{"cgroup", .kind = DOC_ANY},
	{.key = NULL}};
const struct doc_type case_type = {"a case", .rows = case_rows, .unread = &case_complete_type,
				   .rules =
					   "{\"$ref\": \"names.schema.json#/$defs/kind_of_case\"}"};

/* vehicles.json: the name of a vehicle stands in ids. */
static int check_vehicle_event(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	return case_is_id(w->key) ? check_call(d, made, json, w)
				  : error_name(d->e, w, w->key, NULL,
					       "a name of a-z and 0-9, joined by - or .");
}

static const struct doc_type base_type = {
	"a base event",
	.rows = (const struct doc_row[]){{"about", .kind = DOC_TEXT, .is_required = true},
					 OPEN,
					 {0}},
	.check = check_call};
static const struct doc_type vehicle_type = {
	"a vehicle",
	.rows =
		(const struct doc_row[]){
			{"about", .kind = DOC_TEXT, .is_required = true}, OPEN, REQUIRES, {0}},
	.check = check_vehicle_event};
const struct doc_type vehicles_type = {
	"vehicles.json",
	.rows = (const struct doc_row[]){
		{"$schema", .kind = DOC_ANY},
		{"about", .kind = DOC_TEXT, .is_required = true},
		{"bases", .kind = DOC_MAP, .type = &base_type,
		 .help = "what `open` of many cases begins with"},
		{"vehicles", .kind = DOC_MAP, .is_required = true, .type = &vehicle_type},
		{0}}};

int case_read(const struct doc_type *type, const json_t *json, const struct cases *cases,
	      const struct where *w, struct error *e)
{
	struct arena arena = {0};
	struct doc d = {&arena, e, (void *)cases};
	int err = doc_read(&d, type, json, NULL, w);

	arena_free(&arena);
	return err;
}

int case_check_vehicles(const json_t *vehicle, const struct cases *cases, const struct where *w,
			struct error *e)
{
	static const struct doc_row rows[] = {COMMON_ROWS, {.key = NULL}};
	static const struct doc_type type = {"a case", .rows = rows};
	json_t *holder = vehicle ? json_pack("{s:O}", "vehicle", vehicle) : json_object();
	int err = case_read(&type, holder, cases, w, e);

	json_decref(holder);
	return err;
}

enum kind case_kind(const json_t *json)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));

	return kind && !strcmp(kind, "capability") ? CAPABILITY : CONFORMANCE;
}

/*
 * Putting a case together: defaults, vehicle and what is written, with the row's value put in.
 */

static void add_implied_by_text(json_t *requirements, const char *text)
{
	static const char *const names[] = {"$pmu.", "$tracepoint."};

	for (size_t i = 0; i < 2; i++) {
		for (const char *at = text; (at = strstr(at, names[i])); at++) {
			const size_t begins = strlen(names[i]);
			size_t n = strcspn(at, "<>|+* -") - begins;

			if (!i)
				n = scope_pmu_name_length(at + begins, n);
			json_array_append_new(requirements, json_stringn(at + 1, begins - 1 + n));
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

/*
 * Puts what `open` has by default under what steps open, and steps within them. Of a step that is
 * in error, nothing: that is said when it is compiled. As deep as lists of steps are nested.
 * NOLINTNEXTLINE(misc-no-recursion)
 */
static void complete_steps(json_t *steps, const json_t *open)
{
	json_t *step;
	size_t i;

	json_array_foreach(steps, i, step) {
		const struct verb *verb = verb_of(step, NULL, NULL);

		for (const struct argument *a = verb ? verb->arguments : NULL; a && a->key; a++) {
			json_t *value = json_object_get(step, a->key);

			if (value && a->type == &argument_open)
				json_object_set_new(step, a->key, merge(open, value));
			if (a->type->holds)
				complete_steps(value, open);
		}
	}
}

/* A list of steps, if there is one, as it is run. */
static void add_steps(json_t *out, const char *key, const json_t *steps, const json_t *open,
		      json_t *requirements)
{
	json_t *copy = steps ? json_deep_copy(steps) : NULL;

	if (!steps)
		return;
	complete_steps(copy, open);
	add_implied(requirements, copy);
	json_object_set_new(out, key, copy);
}

/* What is done: the preparation, and the steps or the call, with what these require. */
static void add_call(json_t *out, const json_t *one, const json_t *defaults, const json_t *vehicle)
{
	const json_t *steps = json_object_get(one, "steps"), *own = json_object_get(one, "open");
	const json_t *given = case_own_or_default(one, defaults, "given");
	const json_t *requires = json_object_get(one, "requires");
	json_t *all = json_array(), *none = json_object();
	json_t *of_vehicle = json_object_get(vehicle, "open");
	json_t *under = merge(json_object_get(defaults, "open"), of_vehicle ? of_vehicle : none);
	json_t *open = own ? merge(under, own) : json_incref(under);

	json_array_extend(all, json_object_get(defaults, "requires"));
	json_array_extend(all, json_object_get(vehicle, "requires"));
	if (json_is_array(requires))
		json_array_extend(all, (json_t *) requires);
	if (!steps)
		add_implied(all, open);
	add_steps(out, "given", given, under, all);
	add_steps(out, "steps", steps, under, all);
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
}

static void add_members(json_t *out, const json_t *one, const json_t *defaults,
			const char *const keys[])
{
	for (size_t i = 0; keys[i]; i++)
		set_member(out, keys[i], case_own_or_default(one, defaults, keys[i]));
}

json_t *case_complete(const json_t *file, const json_t *one, const json_t *vehicle)
{
	static const char *const first[] = {"name", "title", "about", NULL};
	static const char *const inherited[] = {"kind",   "as",      "alone",   "sysctl",
						"cgroup", "machine", "outcome", NULL};
	const json_t *defaults = json_object_get(file, "defaults");
	json_t *out = json_object(), *spec = json_object_get(file, "spec");
	json_t *own_spec = json_object_get(one, "spec");

	set_member(out, "suite", json_object_get(file, "suite"));
	add_members(out, one, NULL, first);
	add_members(out, one, defaults, inherited);
	add_call(out, one, defaults, vehicle);
	set_member(out, "expect", json_object_get(one, "expect"));
	json_object_set_new(out, "spec", own_spec ? merge(spec, own_spec) : json_incref(spec));
	set_member(out, "covers", json_object_get(one, "covers"));
	return out;
}

/*
 * Once for a file, before anything of it is merged.
 */

/* The recursion is as deep as the JSON. NOLINTBEGIN(misc-no-recursion) */

static int apply_to_open(json_t *holder, const json_t *bases, const struct where *w,
			 struct error *e)
{
	const json_t *open = json_object_get(holder, "open"), *name = json_object_get(open, "base");
	const char *text = json_string_value(name), *known;
	const json_t *base = text ? json_object_get(json_object_get(bases, text), "open") : NULL;
	struct nearest near = nearest_to(text ? text : "");
	json_t *own, *ignored;

	if (!name)
		return 0;
	json_object_foreach((json_t *)bases, known, ignored)
		nearest_try(&near, known);
	if (!base)
		return error_name(e, AT_KEY(w, "base"), text ? text : "", near.best,
				  "a base event of vehicles.json");
	own = json_copy((json_t *)open);
	json_object_del(own, "base");
	json_object_set_new(holder, "open", merge(base, own));
	json_decref(own);
	return 0;
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
