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

json_t *argument_schema(const struct argument *a)
{
	return a->type->make_schema ? a->type->make_schema(a)
				    : json_loads(a->type->schema, 0, NULL);
}

json_t *schema_or_variable(json_t *schema)
{
	return json_pack("{s:[o,{s:s}]}", "anyOf", schema, "$ref",
			 "names.schema.json#/$defs/parameter");
}

static uint64_t most_of(const struct argument *a)
{
	return a->most ? a->most : UINT64_MAX;
}

static int evaluate_number(const struct argument *a, const struct scope *scope, const json_t *json,
			   const struct where *w, struct value *out, struct error *e)
{
	struct vars vars = scope_vars(scope);

	if (value_eval(json, NULL, &vars, w, out, e))
		return -EINVAL;
	if (out->known && (out->bits > most_of(a) || out->bits < a->least))
		return error_value(e, w, json, "%llu to %llu", (unsigned long long)a->least,
				   (unsigned long long)most_of(a));
	return 0;
}

int argument_compile_number(struct compiling *c, const struct argument *a, struct operand *operand,
			    const struct where *w)
{
	struct value value = {0};
	int err = evaluate_number(a, c->scope, operand->json, w, &value, c->error);

	operand->is_settled = value.known;
	operand->number = value.bits;
	return err;
}

void argument_store(const struct argument *a, uint64_t number, void *out)
{
	const int n = (int)number;

	if (a->room == sizeof(number))
		memcpy(out, &number, sizeof(number));
	else if (a->room == sizeof(n))
		memcpy(out, &n, sizeof(n));
	else if (a->room == sizeof(bool))
		*(bool *)out = number != 0;
}

int argument_number_value(struct step *s, const struct argument *a, const struct operand *operand,
			  void *out)
{
	struct where nowhere = {0};
	struct value value = {.bits = operand->number};
	int err = operand->is_settled
			  ? 0
			  : evaluate_number(a, s->scope, operand->json, &nowhere, &value, s->error);

	/* A long of this program holds it as a number, or in two's complement. */
	if (!err && a->is_long && value.bits > ULONG_MAX && value.bits < (uint64_t)LONG_MIN)
		return error_value(s->error, &nowhere, operand->json,
				   "%s: what a program of %zu bits can pass", a->key,
				   sizeof(long) * 8);
	argument_store(a, value.bits, out);
	return err;
}

json_t *argument_number_schema(const struct argument *a)
{
	if (!a->most || a->most > INT64_MAX)
		return json_pack("{s:s}", "$ref", "names.schema.json#/$defs/number");
	return json_pack("{s:[{s:s,s:I,s:I},{s:s}]}", "anyOf", "type", "integer", "minimum",
			 (json_int_t)a->least, "maximum", (json_int_t)a->most, "$ref",
			 "names.schema.json#/$defs/expression");
}

const struct argument_type argument_number = {.compile = argument_compile_number,
					      .evaluate = argument_number_value,
					      .make_schema = argument_number_schema};

static int look_up(const struct scope *scope, const json_t *json, const struct where *w,
		   uint64_t *out, struct error *e)
{
	struct vars vars = scope_vars(scope);
	const char *name = json_string_value(json);
	struct nearest near = nearest_to(name ? name : "");
	struct value value;

	if (!name)
		return error_value(e, w, json, "a name bound before");
	if (vars.lookup(vars.context, name, &value, &near))
		return error_name(e, w, name, near.best, "a name bound before");
	*out = value.bits;
	return 0;
}

static int compile_bound(struct compiling *c, const struct argument *a, struct operand *operand,
			 const struct where *w)
{
	(void)a;
	return look_up(c->scope, operand->json, w, &operand->number, c->error);
}

static int bound_value(struct step *s, const struct argument *a, const struct operand *operand,
		       void *out)
{
	struct where nowhere = {0};
	uint64_t number = 0;
	int err = look_up(s->scope, operand->json, &nowhere, &number, s->error);

	argument_store(a, number, out);
	return err;
}

const struct argument_type argument_bound = {.c = C_AS_FD,
					     .compile = compile_bound,
					     .evaluate = bound_value,
					     .schema = "{\"type\": \"string\"}"};

static int expand(const struct argument *a, const struct scope *scope, const json_t *json,
		  char out[TEXT_MAX], const struct where *w, struct error *e)
{
	size_t size = (a->most ? (size_t)a->most : TEXT_MOST) + 1;
	const char *text = json_string_value(json);
	int err;

	if (!text)
		return error_value(e, w, json, "a text");
	err = scope_expand(scope, text, out, size);
	if (err == -ENOENT)
		return error_value(e, w, json, "$names that are known here");
	return err ? error_value(e, w, json, "less than %zu bytes", size) : 0;
}

static int compile_text(struct compiling *c, const struct argument *a, struct operand *operand,
			const struct where *w)
{
	char text[TEXT_MAX];

	return expand(a, c->scope, operand->json, text, w, c->error);
}

int argument_text_value(struct step *s, const struct argument *a, const struct operand *operand,
			void *out)
{
	struct where nowhere = {0};
	char text[TEXT_MAX];
	const char *kept = NULL;
	int err = expand(a, s->scope, operand->json, text, &nowhere, s->error);

	if (!err && !(kept = arena_join(&s->arena, text, "")))
		err = step_failed(s, ENOMEM);
	memcpy(out, &kept, sizeof(kept));
	return err;
}

const struct argument_type argument_text = {.c = C_AS_TEXT,
					    .compile = compile_text,
					    .evaluate = argument_text_value,
					    .schema = "{\"type\": \"string\"}"};

static int compile_literal(struct compiling *c, const struct argument *a, struct operand *operand,
			   const struct where *w)
{
	const char *text = json_string_value(operand->json);

	if (!text || !text[0] || strlen(text) > a->most)
		return error_value(c->error, w, operand->json, "a word of 1 to %llu letters",
				   (unsigned long long)a->most);
	operand->made = arena_join(c->arena, text, "");
	return operand->made ? 0 : error_no_memory(c->error, w, "memory for a word");
}

static json_t *literal_schema(const struct argument *a)
{
	return json_pack("{s:s,s:i,s:I}", "type", "string", "minLength", 1, "maxLength",
			 (json_int_t)a->most);
}

const struct argument_type argument_literal = {
	.c = C_AS_TEXT, .compile = compile_literal, .is_made = true, .make_schema = literal_schema};

void argument_words_text(const struct word *words, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (const struct word *word = words; word->name && n < size; word++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", word->name);
}

static const struct word *find_word(const struct word *words, const char *name,
				    struct nearest *near)
{
	for (const struct word *word = words; word->name; word++) {
		if (!strcmp(word->name, name))
			return word;
		nearest_try(near, word->name);
	}
	return NULL;
}

static int compile_word(struct compiling *c, const struct argument *a, struct operand *operand,
			const struct where *w)
{
	const char *text = json_string_value(operand->json);
	struct nearest near = nearest_to(text ? text : "");
	const struct word *word = text ? find_word(a->words, text, &near) : NULL;
	char all[200];

	operand->is_settled = true;
	operand->number = word ? word->value : 0;
	if (word)
		return 0;
	argument_words_text(a->words, all, sizeof(all));
	return text ? error_name(c->error, w, text, near.best, "one of %s", all)
		    : error_value(c->error, w, operand->json, "one of %s", all);
}

static json_t *word_schema(const struct argument *a)
{
	json_t *words = json_array();

	for (const struct word *word = a->words; word->name; word++)
		json_array_append_new(words, json_string(word->name));
	return json_pack("{s:o}", "enum", words);
}

const struct argument_type argument_word = {
	.c = C_AS_WORDS, .compile = compile_word, .make_schema = word_schema};

static int compile_words(struct compiling *c, const struct argument *a, struct operand *operand,
			 const struct where *w)
{
	json_t *item;
	size_t i;

	operand->is_settled = true;
	if (!json_is_array(operand->json))
		return error_value(c->error, w, operand->json, "a list of names");
	json_array_foreach(operand->json, i, item) {
		struct operand one = {.json = item};

		if (compile_word(c, a, &one, AT_INDEX(w, i)))
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
	.c = C_AS_WORDS, .compile = compile_words, .make_schema = words_schema};

static int compile_truth(struct compiling *c, const struct argument *a, struct operand *operand,
			 const struct where *w)
{
	(void)a;
	operand->is_settled = true;
	operand->number = json_is_true(operand->json);
	return json_is_boolean(operand->json)
		       ? 0
		       : error_value(c->error, w, operand->json, "true or false");
}

const struct argument_type argument_truth = {
	.c = C_AS_TRUTH, .compile = compile_truth, .schema = "{\"type\": \"boolean\"}"};

static int compile_nothing(struct compiling *c, const struct argument *a, struct operand *operand,
			   const struct where *w)
{
	(void)a;
	operand->is_settled = true;
	return json_is_true(operand->json) ? 0 : error_value(c->error, w, operand->json, "true");
}

const struct argument_type argument_nothing = {.compile = compile_nothing,
					       .schema = "{\"const\": true}"};

int argument_compile_steps(struct compiling *c, const struct argument *a, struct operand *operand,
			   const struct where *w)
{
	struct block *block = arena_alloc(c->arena, sizeof(*block));

	(void)a;
	operand->made = block;
	if (!block)
		return error_no_memory(c->error, w, "memory for steps");
	return block_compile(c, block, operand->json, w);
}

const struct argument_type argument_steps = {
	.compile = argument_compile_steps,
	.is_made = true,
	.schema = "{\"$ref\": \"names.schema.json#/$defs/steps\"}",
	.holds = HOLDS_STEPS};

/* The steps of a child see what is bound here; what it binds is its own. */
static int compile_child(struct compiling *c, const struct argument *a, struct operand *operand,
			 const struct where *w)
{
	struct scope *scope = malloc(sizeof(*scope));
	struct compiling child = *c;
	int err;

	if (!scope)
		return error_no_memory(c->error, w, "memory for the names of a child");
	scope_copy(scope, c->scope);
	child.scope = scope;
	err = argument_compile_steps(&child, a, operand, w);
	scope_free(scope);
	free(scope);
	return err;
}

const struct argument_type argument_child = {
	.compile = compile_child,
	.is_made = true,
	.schema = "{\"$ref\": \"names.schema.json#/$defs/steps\"}",
	.holds = HOLDS_CHILD};

static int compile_open(struct compiling *c, const struct argument *a, struct operand *operand,
			const struct where *w)
{
	struct opening *open = arena_alloc(c->arena, sizeof(*open));

	(void)a;
	operand->made = open;
	if (!open)
		return error_no_memory(c->error, w, "memory for a call");
	return opening_compile(open, operand->json, c->tables->abi, c->arch, c->scope, c->arena, w,
			       c->error);
}

static int open_value(struct step *s, const struct argument *a, const struct operand *operand,
		      void *out)
{
	const struct call *call;
	int err = opening_make(operand->made, s->tables->abi, s->tables->arch, s->scope, &s->made,
			       &call, s->error);

	(void)a;
	memcpy(out, &call, sizeof(call));
	return err;
}

const struct argument_type argument_open = {.compile = compile_open,
					    .evaluate = open_value,
					    .schema =
						    "{\"$ref\": \"case.schema.json#/$defs/open\"}"};

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

/* One of those, or in the case's cgroup, which it has made and which goes with it. */
static bool is_reachable(const struct scope *scope, enum step_access access, const char *path)
{
	const char *cgroup =
		json_string_value(json_object_get(scope_json(scope, "cgroup"), "path"));
	size_t n = cgroup ? strlen(cgroup) : 0;

	if (strstr(path, "/.."))
		return false;
	for (size_t i = 0; i < sizeof(reachable) / sizeof(reachable[0]); i++)
		if (access <= reachable[i].most &&
		    !strncmp(path, reachable[i].prefix, strlen(reachable[i].prefix)))
			return true;
	return n && !strncmp(path, cgroup, n) && (path[n] == '/' || !path[n]);
}

/* Whether a path that begins with these letters could be. */
static bool could_be(enum step_access access, const char *text)
{
	size_t n = strcspn(text, "$");

	if (strstr(text, "/..") || (!n && text[0] != '$'))
		return false;
	for (size_t i = 0; i < sizeof(reachable) / sizeof(reachable[0]); i++) {
		const char *prefix = reachable[i].prefix;
		size_t least = strlen(prefix) < n ? strlen(prefix) : n;

		if (access <= reachable[i].most && !strncmp(text, prefix, least) &&
		    (text[n] == '$' || n >= strlen(prefix)))
			return true;
	}
	return !n; /* $cgroup.path, or a parameter that has the whole path */
}

static int elsewhere(const char *path, enum step_access access, const struct where *w,
		     struct error *e)
{
	return error_name(e, w, path, NULL,
			  access == STEP_WRITES
				  ? "a file of perf's sysctls, of tracefs or of the case's cgroup"
				  : "a file of perf's sysctls, of tracefs, of the PMUs in sysfs "
				    "or of the case's cgroup");
}

static enum step_access access_of(const struct argument *a)
{
	return a->type == &argument_path_read ? STEP_READS : STEP_WRITES;
}

static int compile_path(struct compiling *c, const struct argument *a, struct operand *operand,
			const struct where *w)
{
	const char *text = json_string_value(operand->json);
	int err = compile_text(c, a, operand, w);

	return err || could_be(access_of(a), text) ? err
						   : elsewhere(text, access_of(a), w, c->error);
}

static int path_value(struct step *s, const struct argument *a, const struct operand *operand,
		      void *out)
{
	struct where nowhere = {0};
	const char *path = NULL;
	int err = argument_text_value(s, a, operand, &path);

	memcpy(out, &path, sizeof(path));
	return err || is_reachable(s->scope, access_of(a), path)
		       ? err
		       : elsewhere(path, access_of(a), &nowhere, s->error);
}

const struct argument_type argument_path_read = {.c = C_AS_TEXT,
						 .compile = compile_path,
						 .evaluate = path_value,
						 .schema = "{\"type\": \"string\"}"};
const struct argument_type argument_path_written = {.c = C_AS_TEXT,
						    .compile = compile_path,
						    .evaluate = path_value,
						    .schema = "{\"type\": \"string\"}"};

static bool is_path(const struct operand *operand)
{
	const char *text = json_string_value(operand->json);

	return text && text[0] == '/';
}

static int compile_target(struct compiling *c, const struct argument *a, struct operand *operand,
			  const struct where *w)
{
	return is_path(operand) ? compile_path(c, a, operand, w)
				: argument_bound.compile(c, a, operand, w);
}

static int target_value(struct step *s, const struct argument *a, const struct operand *operand,
			void *out)
{
	struct arguments *all = &s->arguments;

	(void)out;
	return is_path(operand) ? path_value(s, a, operand, &all->path)
				: argument_bound.evaluate(s, a, operand, &all->fd);
}

const struct argument_type argument_write_target = {.c = C_AS_TARGET,
						    .compile = compile_target,
						    .evaluate = target_value,
						    .schema = "{\"type\": \"string\"}"};
