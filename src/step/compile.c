/* SPDX-License-Identifier: MIT */
/*
 * Each step's verb, its operands by the verb's rows, what it expects, what it binds.
 */
#include <errno.h>
#include <string.h>

#include "step/program.h"

/* One operand an argument; what is not written comes to the row's fallback. */
static int compile_operands(struct compiling *c, struct statement *statement, const struct where *w)
{
	const struct argument *arguments = statement->verb->arguments;
	size_t count = 0;

	while (arguments[count].key)
		count++;
	statement->operands = arena_alloc(c->arena, (count + 1) * sizeof(*statement->operands));
	if (!statement->operands)
		return error_no_memory(c->error, w, "memory for a step");
	for (size_t i = 0; i < count; i++) {
		const struct argument *a = &arguments[i];
		struct operand *operand = &statement->operands[i];
		struct where at = where_key(w, a->key);
		int err;

		operand->json = json_object_get(statement->json, a->key);
		if (!operand->json && a->is_required)
			return error_value(c->error, &at, NULL, "%s",
					   a->help ? a->help : "an argument of this step");
		c->argument = a;
		c->where = &at;
		err = operand->json && a->type->parse ? a->type->parse(c, operand) : 0;
		if (err)
			return err;
	}
	return 0;
}

static int bind_name(struct compiling *c, const struct statement *statement, const json_t *bind,
		     const struct where *w)
{
	const char *name = json_string_value(bind), *member = statement->verb->binds_member;
	struct value_shape shape = {.kind = SHAPE_NUMBER};
	int err;

	if (statement->verb->binds == BINDS_SHOWN)
		shape = statement_shape(statement, c->tables);
	err = name ? scope_bind_shape(c->scope, name, &shape) : -EINVAL;

	if (!err && c->parameter && !strcmp(name, c->parameter))
		err = -EEXIST;
	if (!err && member)
		err = scope_bind_member(c->scope, name, member, 0);
	if (err == -ENOSPC)
		return error_value(c->error, w, bind, "at most %d names", SCOPE_MAX);
	if (err == -EEXIST)
		return error_value(c->error, w, bind, "a name that means nothing yet");
	return err ? error_value(c->error, w, bind, "a name of a-z, 0-9 and _, at most %d",
				 VARIABLE_NAME - 1)
		   : 0;
}

/* What a child is called is known to it; what a step shows, to those behind it alone. */
static bool binds_before(const struct verb *verb)
{
	return verb->arguments[0].type->holds == HOLDS_CHILD;
}

static int compile_step(struct compiling *c, struct statement *out, const json_t *json,
			const struct where *w)
{
	const json_t *bind = json_object_get(json, "bind");
	struct where at_bind = where_key(w, "bind");
	const struct abi_arch *of_case = c->arch, *own;
	int err;

	*out = (struct statement){.verb = verb_of(json, w, c->error),
				  .json = json,
				  .when = json_object_get(json, "when"),
				  .bind = json_string_value(bind)};
	if (!out->verb || when_check(out->when, &c->names, AT_KEY(w, "when"), c->error))
		return -EINVAL;
	err = bind && binds_before(out->verb) ? bind_name(c, out, bind, &at_bind) : 0;
	/* What it acts on has names of the architecture that its `when` demands. Behind an exec
	 * there are no tables, and no conditions. */
	own = !err && out->when ? when_arch(out->when, c->tables->abi) : NULL;
	c->arch = own ? own : of_case;
	if (!err)
		err = compile_operands(c, out, w);
	c->arch = of_case;
	c->where = w;
	if (!err && out->verb->check)
		err = out->verb->check(c, out);
	if (!err)
		err = expect_compile(c, out, w);
	if (!err && bind && !binds_before(out->verb))
		err = bind_name(c, out, bind, &at_bind);
	return err;
}

int block_compile_one(struct compiling *c, struct block *out, const json_t *step,
		      const struct where *w)
{
	*out = (struct block){arena_alloc(c->arena, sizeof(*out->list)), 1};
	if (!step || !out->list)
		return error_no_memory(c->error, w, "memory for steps");
	return compile_step(c, out->list, step, w);
}

int block_compile(struct compiling *c, struct block *out, const json_t *list, const struct where *w)
{
	json_t *step;
	size_t i;

	*out = (struct block){0};
	if (list && !json_is_array(list))
		return error_value(c->error, w, list, "a list of steps");
	out->list = arena_alloc(c->arena, (json_array_size(list) + 1) * sizeof(*out->list));
	if (!out->list)
		return error_no_memory(c->error, w, "memory for steps");
	json_array_foreach(list, i, step) {
		int err = compile_step(c, &out->list[out->count++], step, AT_INDEX(w, i));

		if (err)
			return err;
	}
	return 0;
}

/*
 * What is asked of a program beside running it.
 */

/* NOLINTNEXTLINE(misc-no-recursion): as deep as lists of steps are nested */
int block_visit(const struct block *block, const struct who *who, struct environment *env,
		int (*visit)(void *, struct statement *), void *context)
{
	int result = 0;

	for (size_t i = 0; i < block->count && !result; i++) {
		struct statement *statement = &block->list[i];
		const struct argument *a = statement->verb->arguments;

		if (who && !when_holds(statement->when, who, env))
			continue;
		for (size_t k = 0; a[k].key && !result; k++)
			if (a[k].type->holds && statement->operands[k].made)
				result = block_visit(statement->operands[k].made, who, env, visit,
						     context);
		if (!result)
			result = visit(context, statement);
	}
	return result;
}

struct value_shape statement_shape(const struct statement *statement, const struct tables *tables)
{
	struct value_shape shape = statement->verb->shows;

	if (statement->verb->shape && tables)
		statement->verb->shape(tables, statement, &shape);
	return shape;
}

const json_t *statement_json(const struct statement *statement, const char *key)
{
	return json_object_get(statement->json, key);
}

struct barred {
	const struct environment *env;
	char *token;
	size_t size;
};

static int look_whether_barred(void *context, struct statement *statement)
{
	const struct barred *b = context;

	return statement->verb->is_barred &&
	       statement->verb->is_barred(statement, b->env, b->token, b->size);
}

bool block_is_barred(const struct block *block, const struct who *who, struct environment *env,
		     char *token, size_t size)
{
	struct barred barred = {env, token, size};

	return block_visit(block, who, env, look_whether_barred, &barred) != 0;
}

void program_free(struct program *program)
{
	arena_free(&program->arena);
	json_decref(program->definition);
	*program = (struct program){0};
}
