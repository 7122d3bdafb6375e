/* SPDX-License-Identifier: MIT */
/*
 * The parts of a case in the order in which they know of each other: what `given` binds, the call
 * or the steps may name.
 */
#include "case/compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case/check.h"
#include "machine/require.h"
#include "step/compile.h"
#include "step/expect.h"

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
				.has_cgroup = json_object_get(definition, "cgroup") != NULL};
	err = compile_parts(&c, out, definition, w);
	if (!err)
		find_sysctls(out);
	scope_free(&scope);
	return err;
}

int case_check_call(const json_t *json, const struct cases *cases, const struct where *w,
		    struct error *e)
{
	struct scope scope = {.checking = true};
	struct program program = {0};
	struct compiling c = {0};
	int err = case_check_common(json, cases, w, e);

	if (!err) {
		c = begin(json, cases, NULL, &scope, &program.arena, e);
		err = compile_parts(&c, &program, json, w);
	}
	scope_free(&scope);
	program_free(&program);
	return err;
}
