/* SPDX-License-Identifier: MIT */
/*
 * The types of arguments, and finding the verb of a step. Some words are a verb here and an
 * argument there ("text", "value", "signals"): the verb is the one that knows all the others.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "step/step.h"
#include "text/say.h"
#include "text/json_text.h"

/* In the order in which the help has them. */
static const struct verb *const verb_lists[] = {event_verbs,    memory_verbs,  read_verbs,
						signal_verbs,   process_verbs, machine_verbs,
						workload_verbs, NULL};

const char *verb_key(const struct verb *verb)
{
	return verb->key ? verb->key : verb->name;
}

const struct verb *verb_next(const struct verb *verb)
{
	if (verb && verb[1].name)
		return verb + 1;
	for (size_t i = 0; verb_lists[i]; i++) {
		if (!verb && verb_lists[i]->name)
			return verb_lists[i];
		for (const struct verb *v = verb_lists[i]; verb && v->name; v++)
			verb = v == verb ? NULL : verb; /* the first of the next list */
	}
	return NULL;
}

enum { KEYS = 16 };

/* What a step of that verb can have: its arguments, and what every verb of its kind can have. */
static void keys_of(const struct verb *verb, const char *keys[KEYS])
{
	size_t n = 0;

	for (const struct argument *a = verb->arguments; a->key && n + 4 < KEYS; a++)
		keys[n++] = a->key;
	if (verb->binds)
		keys[n++] = "bind";
	if (verb->kind != PREPARES)
		keys[n++] = "expect";
	keys[n++] = "when";
	keys[n] = NULL;
}

/* Whether the step's own key says that verb, and for what has kinds, which. */
static bool is_named(const struct verb *verb, const json_t *step)
{
	const json_t *value = json_object_get(step, verb_key(verb));
	const char *text = json_string_value(value);

	return value && (!verb->key || (text && !strcmp(text, verb->name)));
}

/* How many of the step's keys it does not know; the first is *unknown. */
static size_t count_unknown(const struct verb *verb, const json_t *step, const char **unknown)
{
	const char *key, *keys[KEYS];
	json_t *value;
	size_t n = 0;

	*unknown = NULL;
	keys_of(verb, keys);
	json_object_foreach((json_t *)step, key, value) {
		if (name_index(key, keys, NULL) >= 0)
			continue;
		*unknown = *unknown ? *unknown : key;
		n++;
	}
	return n;
}

/* Says those that it knows: `"read", size, at, bind, expect, when`. */
static int no_such_key(const struct verb *verb, const char *key, const struct where *w,
		       struct error *e)
{
	struct nearest near = nearest_to(key);
	const char *keys[KEYS];
	char text[200];
	size_t n = (size_t)snprintf(text, sizeof(text), "\"%s\"", verb->name);

	keys_of(verb, keys);
	name_index(key, keys, &near);
	for (size_t i = 1; keys[i] && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", %s", keys[i]);
	return error_name(e, w, key, near.best, "%s alone (perfabi help steps)", text);
}

/* Whether verbs of several kinds stand under that key; then it says that none is of that name. */
static bool no_such_kind(const char *key, const json_t *value, const struct where *w,
			 struct error *e)
{
	const char *text = json_string_value(value);
	struct nearest near = nearest_to(text ? text : "");
	bool has_kinds = false;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		if (!v->key || strcmp(v->key, key) != 0)
			continue;
		has_kinds = true;
		nearest_try(&near, v->name);
	}
	if (has_kinds)
		error_name(e, AT_KEY(w, key), text ? text : "", near.best,
			   "a %s (perfabi help steps)", key);
	return has_kinds;
}

/* Says what is wrong with a step that no verb knows all the keys of. */
static void explain(const json_t *step, const struct where *w, struct error *e)
{
	const char *key, *unknown, *keys[KEYS] = {"bind", "expect", "when", NULL};
	const struct verb *best = NULL;
	json_t *value;
	size_t least = SIZE_MAX;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		size_t n = is_named(v, step) ? count_unknown(v, step, &unknown) : SIZE_MAX;

		if (n < least)
			best = v;
		least = n < least ? n : least;
	}
	if (best)
		keys_of(best, keys);
	json_object_foreach((json_t *)step, key, value) {
		struct nearest near = nearest_to(key);

		if (name_index(key, keys, NULL) >= 0 || (!best && no_such_kind(key, value, w, e)))
			continue;
		/* It may be a verb's, misspelt: of one that would know all the others. */
		for (const struct verb *v = verb_next(NULL); v; v = verb_next(v))
			if (!v->key && count_unknown(v, step, &unknown) == 1 &&
			    !strcmp(unknown, key))
				nearest_try(&near, v->name);
		if (near.best || !best)
			error_name(e, AT_KEY(w, key), key, near.best,
				   "a step's verb (perfabi help steps)");
		else
			no_such_key(best, key, AT_KEY(w, key), e);
	}
	error_value(e, w, step, "an object with a step's verb (perfabi help steps)");
}

int step_do(struct step *s)
{
	return s->statement->verb->run(s);
}

const struct verb *verb_of(const json_t *step, const struct where *w, struct error *e)
{
	const char *unknown;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v))
		if (is_named(v, step) && !count_unknown(v, step, &unknown))
			return v;
	if (e)
		explain(step, w, e);
	return NULL;
}

/* The schema, or a text that a row's value is put into. Takes the reference; a new one. */
static json_t *schema_or_variable(json_t *schema)
{
	return json_pack("{s:[o,{s:s}]}", "anyOf", schema, "$ref",
			 "names.schema.json#/$defs/parameter");
}

/* The words as a list, ", " between, cut at `size`. */
static void argument_words_text(const struct word *words, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (const struct word *word = words; word->name && n < size; word++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", word->name);
}

/*
 * Each verb a paragraph, each argument a line; and of the same rows an object schema each.
 */

enum { HELP_COLUMN = 16, ARGUMENT_COLUMN = 28, HELP_WIDTH = 92 };

/* "a, b (what it is)": the members that the verb shows. Returns the length, 0 if there are none. */
static size_t shown_text(const struct member *members, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (const struct member *m = members; m && m->name && n < size; m++)
		n += (size_t)snprintf(text + n, size - n, "%s%s%s%s%s", n ? ", " : "", m->name,
				      m->help ? " (" : "", m->help ? m->help : "",
				      m->help ? ")" : "");
	return n;
}

static void help_verb(FILE *f, const struct verb *verb)
{
	const struct argument *own = verb->arguments;
	char words[200], text[600];

	snprintf(text, sizeof(text), "%s%s%s", verb->help, verb->binds ? " [bind]" : "",
		 verb->kind == PREPARES ? "" : " [expect]");
	fprintf(f, "  %s%-*s ", verb->key ? "  " : "", verb->key ? 11 : 13, verb->name);
	say_wrapped(f, text, HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
	if (own->words) {
		argument_words_text(own->words, words, sizeof(words));
		fprintf(f, "%*s", HELP_COLUMN, "");
		say_wrapped(f, words, HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
	}
	for (const struct argument *a = own + 1; a->key; a++) { /* "what it is: in, out, pri" */
		words[0] = '\0';
		if (a->words)
			argument_words_text(a->words, words, sizeof(words));
		snprintf(text, sizeof(text), "%s%s%s", a->help ? a->help : "",
			 a->help && words[0] ? ": " : "", words);
		fprintf(f, "%*s%-*s ", HELP_COLUMN, "", ARGUMENT_COLUMN - HELP_COLUMN - 1, a->key);
		say_wrapped(f, text, ARGUMENT_COLUMN, ARGUMENT_COLUMN, HELP_WIDTH);
	}
	if (!shown_text(verb->shows.members, text, sizeof(text)))
		return;
	fprintf(f, "%*s%-*s ", HELP_COLUMN, "", ARGUMENT_COLUMN - HELP_COLUMN - 1, "shows");
	say_wrapped(f, text, ARGUMENT_COLUMN, ARGUMENT_COLUMN, HELP_WIDTH);
}

void steps_help(FILE *f)
{
	const char *key = NULL;

	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		if (v->key && (!key || strcmp(key, v->key) != 0))
			fprintf(f, "  %-13s something to count or record:\n", v->key);
		key = v->key;
		help_verb(f, v);
	}
}

static json_t *verb_schema(const struct verb *verb)
{
	json_t *properties = json_object(), *required = json_array(), *names = json_array();
	const struct argument *own = verb->arguments;
	const char *keys[KEYS];
	char shown[400];

	keys_of(verb, keys);
	for (size_t i = 0; keys[i]; i++)
		json_array_append_new(names, json_string(keys[i]));
	for (const struct argument *a = own; a->key; a++) {
		/* Of a verb that is one of several kinds its own argument is its name. */
		json_t *schema = a == own && verb->key  ? json_pack("{s:s}", "const", verb->name)
				 : a->type->make_schema ? a->type->make_schema(a)
				 : a->type->schema      ? json_loads(a->type->schema, 0, NULL)
							: json_pack("{s:s}", "type", "string");

		schema = schema_or_variable(schema);

		if (a->help && a != own)
			json_object_set_new(schema, "description", json_string(a->help));
		json_object_set_new(properties, a->key, schema);
		if (a->is_required || a == own)
			json_array_append_new(required, json_string(a->key));
	}
	if (shown_text(verb->shows.members, shown, sizeof(shown)))
		json_object_set_new(properties, "expect", json_pack("{s:s}", "description", shown));
	return json_pack("{s:o,s:s,s:{s:o},s:o}", "required", required, "description", verb->help,
			 "propertyNames", "enum", names, "properties", properties);
}

void steps_schema(FILE *f)
{
	fputs("{\n"
	      " \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
	      " \"$id\": \"step.schema.json\",\n"
	      " \"title\": \"A step: one verb, what it takes, what must come (`perfabi help "
	      "steps`; `make schema`)\",\n"
	      " \"type\": \"object\",\n"
	      " \"properties\": {\n"
	      "  \"bind\": {\"description\": \"a name for the step's result\", \"$ref\": "
	      "\"names.schema.json#/$defs/name\"},\n"
	      "  \"when\": {\"description\": \"the step is done only if this holds\", \"$ref\": "
	      "\"names.schema.json#/$defs/when\"},\n"
	      "  \"expect\": {\"$ref\": \"names.schema.json#/$defs/outcome_of_step\"}\n"
	      " },\n"
	      " \"oneOf\": [\n",
	      f);
	for (const struct verb *v = verb_next(NULL); v; v = verb_next(v)) {
		json_t *schema = verb_schema(v);
		char *text = or_exit(json_text(schema, 0));

		json_decref(schema);
		fprintf(f, "  %s%s\n", text, verb_next(v) ? "," : "");
		free(text);
	}
	fputs(" ]\n}\n", f);
}

/*
 * The types of argument that many verbs have. What only one has stands beside that verb.
 */

enum { TEXT_MAX = 8192, TEXT_MOST = 319 };

static int parse_number(struct compiling *c, struct operand *operand)
{
	const uint64_t most = c->argument->most ? c->argument->most : UINT64_MAX;
	struct vars vars = scope_vars(c->scope);
	struct value value = {0};

	if (value_eval(operand->json, NULL, &vars, c->where, &value, c->error))
		return -EINVAL;
	operand->is_settled = value.known;
	operand->number = value.bits;
	if (value.known && value.bits > most)
		return error_value(c->error, c->where, operand->json, "0 to %llu",
				   (unsigned long long)most);
	/* A long of this program holds it as a number, or in two's complement. */
	if (!c->scope->checking && c->argument->is_long && value.bits > ULONG_MAX &&
	    value.bits < (uint64_t)LONG_MIN)
		return error_value(c->error, c->where, operand->json,
				   "%s: what a program of %zu bits can pass", c->argument->key,
				   sizeof(long) * 8);
	return 0;
}

static json_t *number_schema(const struct argument *a)
{
	if (!a->most || a->most > INT64_MAX)
		return json_pack("{s:s}", "$ref", "names.schema.json#/$defs/number");
	return json_pack("{s:[{s:s,s:i,s:I},{s:s}]}", "anyOf", "type", "integer", "minimum", 0,
			 "maximum", (json_int_t)a->most, "$ref",
			 "names.schema.json#/$defs/expression");
}

const struct argument_type argument_number = {
	.parse = parse_number, .is_parsed_again = true, .make_schema = number_schema};

static int parse_bound(struct compiling *c, struct operand *operand)
{
	struct vars vars = scope_vars(c->scope);
	const char *name = json_string_value(operand->json);
	struct nearest near = nearest_to(name ? name : "");
	struct value value;

	if (!name)
		return error_value(c->error, c->where, operand->json,
				   "a name bound by an earlier step");
	if (vars.lookup(vars.context, name, &value, &near))
		return error_name(c->error, c->where, name, near.best,
				  "a name bound by an earlier step");
	operand->number = value.bits;
	return 0;
}

const struct argument_type argument_bound = {
	.c = C_AS_FD, .parse = parse_bound, .is_parsed_again = true};

static int parse_text(struct compiling *c, struct operand *operand)
{
	size_t size = (c->argument->most ? (size_t)c->argument->most : TEXT_MOST) + 1;
	const char *written = json_string_value(operand->json);
	char text[TEXT_MAX];
	int err;

	if (!written)
		return error_value(c->error, c->where, operand->json, "a text");
	err = scope_expand(c->scope, written, text, size);
	if (err == -ENOENT)
		return error_value(c->error, c->where, operand->json, "$names that are known here");
	if (err)
		return error_value(c->error, c->where, operand->json, "less than %zu bytes", size);
	operand->made = or_exit(arena_join(c->arena, text, ""));
	return 0;
}

const struct argument_type argument_text = {
	.c = C_AS_TEXT, .parse = parse_text, .is_made = true, .is_parsed_again = true};

static int parse_literal(struct compiling *c, struct operand *operand)
{
	const char *text = json_string_value(operand->json);

	if (!text || !text[0] || strlen(text) > c->argument->most)
		return error_value(c->error, c->where, operand->json, "a word of 1 to %llu letters",
				   (unsigned long long)c->argument->most);
	operand->made = or_exit(arena_join(c->arena, text, ""));
	return 0;
}

static json_t *literal_schema(const struct argument *a)
{
	return json_pack("{s:s,s:i,s:I}", "type", "string", "minLength", 1, "maxLength",
			 (json_int_t)a->most);
}

const struct argument_type argument_literal = {
	.c = C_AS_TEXT, .parse = parse_literal, .is_made = true, .make_schema = literal_schema};

static int parse_word(struct compiling *c, struct operand *operand)
{
	const char *text = json_string_value(operand->json);
	struct nearest near = nearest_to(text ? text : "");
	const struct word *word = c->argument->words;
	char all[200];

	for (; text && word->name; word++) {
		operand->number = word->value;
		if (!strcmp(word->name, text))
			return 0;
		nearest_try(&near, word->name);
	}
	argument_words_text(c->argument->words, all, sizeof(all));
	return text ? error_name(c->error, c->where, text, near.best, "one of %s", all)
		    : error_value(c->error, c->where, operand->json, "one of %s", all);
}

static json_t *word_schema(const struct argument *a)
{
	json_t *words = json_array();

	for (const struct word *word = a->words; word->name; word++)
		json_array_append_new(words, json_string(word->name));
	return json_pack("{s:o}", "enum", words);
}

const struct argument_type argument_word = {
	.c = C_AS_WORDS, .parse = parse_word, .make_schema = word_schema};

static int parse_words(struct compiling *c, struct operand *operand)
{
	json_t *item;
	size_t i;

	if (!json_is_array(operand->json))
		return error_value(c->error, c->where, operand->json, "a list of names");
	json_array_foreach(operand->json, i, item) {
		struct operand one = {.json = item};
		struct compiling at = *c;

		at.where = AT_INDEX(c->where, i);
		if (parse_word(&at, &one))
			return -EINVAL;
		operand->number |= one.number;
	}
	return 0;
}

static json_t *words_schema(const struct argument *a)
{
	return json_pack("{s:s,s:o}", "type", "array", "items", schema_or_variable(word_schema(a)));
}

const struct argument_type argument_words = {
	.c = C_AS_WORDS, .parse = parse_words, .make_schema = words_schema};

static int parse_truth(struct compiling *c, struct operand *operand)
{
	operand->number = json_is_true(operand->json);
	return json_is_boolean(operand->json)
		       ? 0
		       : error_value(c->error, c->where, operand->json, "true or false");
}

const struct argument_type argument_truth = {
	.c = C_AS_TRUTH, .parse = parse_truth, .schema = "{\"type\": \"boolean\"}"};

static int parse_nothing(struct compiling *c, struct operand *operand)
{
	return json_is_true(operand->json) ? 0
					   : error_value(c->error, c->where, operand->json, "true");
}

const struct argument_type argument_nothing = {.parse = parse_nothing,
					       .schema = "{\"const\": true}"};

static int parse_steps(struct compiling *c, struct operand *operand)
{
	struct block *block = or_exit(arena_alloc(c->arena, sizeof(*block)));

	operand->made = block;
	return block_compile(c, block, operand->json, c->where);
}

const struct argument_type argument_steps = {
	.parse = parse_steps,
	.is_made = true,
	.schema = "{\"$ref\": \"names.schema.json#/$defs/steps\"}",
	.holds = HOLDS_STEPS};

/* The steps of a child see what is bound here; what it binds is its own. */
static int parse_child(struct compiling *c, struct operand *operand)
{
	struct scope *scope = or_exit(malloc(sizeof(*scope)));
	struct compiling child = *c;
	int err;

	scope_copy(scope, c->scope);
	child.scope = scope;
	err = parse_steps(&child, operand);
	scope_free(scope);
	free(scope);
	return err;
}

const struct argument_type argument_child = {
	.parse = parse_child,
	.is_made = true,
	.schema = "{\"$ref\": \"names.schema.json#/$defs/steps\"}",
	.holds = HOLDS_CHILD};

static int parse_open(struct compiling *c, struct operand *operand)
{
	struct opening *open = or_exit(arena_alloc(c->arena, sizeof(*open)));

	operand->made = open;
	return opening_compile(open, operand->json, c->tables->abi, c->arch, c->scope, c->arena,
			       c->where, c->error);
}

const struct argument_type argument_open = {
	.parse = parse_open, .schema = "{\"$ref\": \"case.schema.json#/$defs/open\"}"};

/*
 * The paths by what they begin with.
 */

/* What a step does with a path: reads it, writes to it, or writes what is not put back. */
enum step_access { STEP_READS = 'r', STEP_WRITES = 'w', STEP_CHANGES = 'c' };

static const struct {
	const char *prefix, *may;
} reachable[] = {
	{"/proc/sys/kernel/perf_", "rwc"},
	{"/sys/kernel/tracing/", "rwc"},
	{"/sys/kernel/debug/tracing/", "rwc"},
	{"/sys/bus/event_source/devices/", "rc"},
	{"/sys/module/perfabi_pmu/parameters/", "rc"},
	{"/sys/devices/system/cpu/", "rc"},
	{"/sys/kernel/security/lockdown", "rc"},
	{"/proc/sys/", "rc"},
	{"/proc/self/fail-nth", "rwc"}, /* it goes with the process */
	{"/sys/kernel/debug/fail", "rc"},
};

static const char *reach_of(const char *path)
{
	for (size_t i = 0; i < sizeof(reachable) / sizeof(reachable[0]); i++) {
		if (!strncmp(path, reachable[i].prefix, strlen(reachable[i].prefix)))
			return reachable[i].may;
	}
	return NULL;
}

bool path_stays_changed(const char *path)
{
	const char *may = reach_of(path);

	return may && !strchr(may, STEP_WRITES); /* NULL: it is in the case's cgroup */
}

/*
 * One of those, or in the case's cgroup, which it has made and which goes with it. While the case
 * is compiled, whether what begins with the letters in front of the first $ could be.
 */
static bool is_reachable(const struct scope *scope, enum step_access access, const char *path)
{
	const char *cgroup =
		json_string_value(json_object_get(scope_json(scope, "cgroup"), "path"));
	const size_t n = scope->checking ? strcspn(path, "$") : strlen(path);
	const size_t of_cgroup = cgroup ? strlen(cgroup) : 0;

	if (strstr(path, "/.."))
		return false;
	for (size_t i = 0; i < sizeof(reachable) / sizeof(reachable[0]); i++) {
		const char *prefix = reachable[i].prefix;
		size_t least = strlen(prefix) < n ? strlen(prefix) : n;

		if (strchr(reachable[i].may, (int)access) && !strncmp(path, prefix, least) &&
		    (path[n] == '$' || n >= strlen(prefix)))
			return true;
	}
	if (scope->checking) /* $cgroup.path, or a parameter that has the whole path */
		return path[0] == '$';
	return of_cgroup && !strncmp(path, cgroup, of_cgroup) &&
	       (path[of_cgroup] == '/' || !path[of_cgroup]);
}

static int parse_path(struct compiling *c, struct operand *operand)
{
	enum step_access access = c->argument->type == &argument_path_read      ? STEP_READS
				  : c->argument->type == &argument_write_target ? STEP_CHANGES
										: STEP_WRITES;
	int err = parse_text(c, operand);
	const char *path = c->scope->checking ? json_string_value(operand->json) : operand->made;

	if (err || is_reachable(c->scope, access, path))
		return err;
	return error_name(c->error, c->where, path, NULL,
			  access == STEP_WRITES
				  ? "a file of perf's sysctls, of tracefs or of the case's cgroup"
			  : access == STEP_CHANGES
				  ? "a file of perf's sysctls, of tracefs, of the case's cgroup or "
				    "of an expendable machine"
				  : "a file of perf's sysctls, of tracefs, of the PMUs in sysfs "
				    "or of the case's cgroup");
}

const struct argument_type argument_path_read = {
	.c = C_AS_TEXT, .parse = parse_path, .is_made = true, .is_parsed_again = true};
const struct argument_type argument_path_written = {
	.c = C_AS_TEXT, .parse = parse_path, .is_made = true, .is_parsed_again = true};

static int parse_target(struct compiling *c, struct operand *operand)
{
	const char *text = json_string_value(operand->json);

	return text && text[0] == '/' ? parse_path(c, operand) : parse_bound(c, operand);
}

const struct argument_type argument_write_target = {
	.c = C_AS_TARGET, .parse = parse_target, .is_made = true, .is_parsed_again = true};
