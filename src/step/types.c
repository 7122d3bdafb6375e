/* SPDX-License-Identifier: MIT */
/*
 * The types of argument that many verbs have. What only one has stands beside that verb.
 */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "step/step.h"

enum { TEXT_MAX = 8192, TEXT_MOST = 319 };

json_t *schema_or_variable(json_t *schema)
{
	return json_pack("{s:[o,{s:s}]}", "anyOf", schema, "$ref",
			 "names.schema.json#/$defs/parameter");
}

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
		return error_value(c->error, c->where, operand->json, "a name bound before");
	if (vars.lookup(vars.context, name, &value, &near))
		return error_name(c->error, c->where, name, near.best, "a name bound before");
	operand->number = value.bits;
	return 0;
}

const struct argument_type argument_bound = {.c = C_AS_FD,
					     .parse = parse_bound,
					     .is_parsed_again = true,
					     .schema = "{\"type\": \"string\"}"};

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
	operand->made = arena_join(c->arena, text, "");
	return operand->made ? 0 : error_no_memory(c->error, c->where, "memory for a text");
}

const struct argument_type argument_text = {.c = C_AS_TEXT,
					    .parse = parse_text,
					    .is_made = true,
					    .is_parsed_again = true,
					    .schema = "{\"type\": \"string\"}"};

static int parse_literal(struct compiling *c, struct operand *operand)
{
	const char *text = json_string_value(operand->json);

	if (!text || !text[0] || strlen(text) > c->argument->most)
		return error_value(c->error, c->where, operand->json, "a word of 1 to %llu letters",
				   (unsigned long long)c->argument->most);
	operand->made = arena_join(c->arena, text, "");
	return operand->made ? 0 : error_no_memory(c->error, c->where, "memory for a word");
}

static json_t *literal_schema(const struct argument *a)
{
	return json_pack("{s:s,s:i,s:I}", "type", "string", "minLength", 1, "maxLength",
			 (json_int_t)a->most);
}

const struct argument_type argument_literal = {
	.c = C_AS_TEXT, .parse = parse_literal, .is_made = true, .make_schema = literal_schema};

void argument_words_text(const struct word *words, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (const struct word *word = words; word->name && n < size; word++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", word->name);
}

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
	struct block *block = arena_alloc(c->arena, sizeof(*block));

	operand->made = block;
	if (!block)
		return error_no_memory(c->error, c->where, "memory for steps");
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
	struct scope *scope = malloc(sizeof(*scope));
	struct compiling child = *c;
	int err;

	if (!scope)
		return error_no_memory(c->error, c->where, "memory for the names of a child");
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
	struct opening *open = arena_alloc(c->arena, sizeof(*open));

	operand->made = open;
	if (!open)
		return error_no_memory(c->error, c->where, "memory for a call");
	return opening_compile(open, operand->json, c->tables->abi, c->arch, c->scope, c->arena,
			       c->where, c->error);
}

const struct argument_type argument_open = {
	.parse = parse_open, .schema = "{\"$ref\": \"case.schema.json#/$defs/open\"}"};

/*
 * The paths by what they begin with.
 */

enum step_access { STEP_READS, STEP_WRITES };

static const struct {
	const char *prefix;
	enum step_access most;
} reachable[] = {
	{"/proc/sys/kernel/perf_", STEP_WRITES},
	{"/sys/kernel/tracing/", STEP_WRITES},
	{"/sys/kernel/debug/tracing/", STEP_WRITES},
	{"/sys/bus/event_source/devices/", STEP_READS},
};

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

		if (access <= reachable[i].most && !strncmp(path, prefix, least) &&
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
	enum step_access access =
		c->argument->type == &argument_path_read ? STEP_READS : STEP_WRITES;
	int err = parse_text(c, operand);
	const char *path = c->scope->checking ? json_string_value(operand->json) : operand->made;

	if (err || is_reachable(c->scope, access, path))
		return err;
	return error_name(c->error, c->where, path, NULL,
			  access == STEP_WRITES
				  ? "a file of perf's sysctls, of tracefs or of the case's cgroup"
				  : "a file of perf's sysctls, of tracefs, of the PMUs in sysfs "
				    "or of the case's cgroup");
}

const struct argument_type argument_path_read = {.c = C_AS_TEXT,
						 .parse = parse_path,
						 .is_made = true,
						 .is_parsed_again = true,
						 .schema = "{\"type\": \"string\"}"};
const struct argument_type argument_path_written = {.c = C_AS_TEXT,
						    .parse = parse_path,
						    .is_made = true,
						    .is_parsed_again = true,
						    .schema = "{\"type\": \"string\"}"};

static int parse_target(struct compiling *c, struct operand *operand)
{
	const char *text = json_string_value(operand->json);

	return text && text[0] == '/' ? parse_path(c, operand) : parse_bound(c, operand);
}

const struct argument_type argument_write_target = {.c = C_AS_TARGET,
						    .parse = parse_target,
						    .is_made = true,
						    .is_parsed_again = true,
						    .schema = "{\"type\": \"string\"}"};
