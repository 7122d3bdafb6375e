/* SPDX-License-Identifier: MIT */
/*
 * Compiling lists of steps: each step's verb, its operands by the verb's rows, what it expects, what
 * it binds.
 */
#include "step/program.h"

#include <errno.h>
#include <string.h>

#include "step/expect.h"

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
		err = operand->json ? a->type->compile(c, a, operand, &at) : 0;
		if (err)
			return err;
	}
	return 0;
}

static int bind_name(struct compiling *c, const struct statement *statement, const json_t *bind,
		     const struct where *w)
{
	const char *name = json_string_value(bind), *member = statement->verb->binds_member;
	int err = name ? scope_bind(c->scope, name, 0) : -EINVAL;

	if (!err && c->parameter && !strcmp(name, c->parameter))
		err = -EEXIST;
	if (!err && member)
		err = scope_bind_member(c->scope, name, member, 0);
	if (err == -ENOSPC)
		return error_value(c->error, w, bind, "at most %d names", SCOPE_MAX);
	if (err == -EEXIST)
		return error_value(c->error, w, bind, "a name that means nothing yet");
	return err ? error_value(c->error, w, bind, "a name of a-z, 0-9 and _, at most %d",
				 SCOPE_NAME - 1)
		   : 0;
}

/* What a child is called is known to it; what a step shows, to those behind it alone. */
static bool binds_before(const struct verb *verb)
{
	return verb->arguments[0].type == &argument_child;
}

static int compile_step(struct compiling *c, struct statement *out, const json_t *json,
			const struct where *w)
{
	const json_t *bind = json_object_get(json, "bind");
	struct where at_when = where_key(w, "when"), at_bind = where_key(w, "bind");
	int err;

	*out = (struct statement){.verb = verb_of(json, w, c->error),
				  .json = json,
				  .when = json_object_get(json, "when"),
				  .bind = json_string_value(bind),
				  .expects = json_object_get(json, "expect") != NULL};
	if (!out->verb || when_check(out->when, &c->names, &at_when, c->error))
		return -EINVAL;
	err = bind && binds_before(out->verb) ? bind_name(c, out, bind, &at_bind) : 0;
	if (!err)
		err = compile_operands(c, out, w);
	if (!err && out->verb->check)
		err = out->verb->check(c, out, w);
	if (!err)
		err = expect_compile(c, out, w);
	if (!err && bind && !binds_before(out->verb))
		err = bind_name(c, out, bind, &at_bind);
	return err;
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
		struct where at = where_index(w, i);
		int err = compile_step(c, &out->list[out->count++], step, &at);

		if (err)
			return err;
	}
	return 0;
}

struct visit {
	const struct who *who;
	struct environment *env;
	int (*visit)(void *context, struct statement *);
	void *context;
};

static int visit_block(const struct visit *v, const struct block *block);

/* NOLINTNEXTLINE(misc-no-recursion): as deep as lists of steps are nested */
static int visit_statement(const struct visit *v, struct statement *statement)
{
	const struct argument *arguments = statement->verb->arguments;
	int result = 0;

	if (v->who && !when_holds(statement->when, v->who, v->env))
		return 0;
	for (size_t i = 0; arguments[i].key && !result; i++)
		if (argument_is_steps(&arguments[i]) && statement->operands[i].made)
			result = visit_block(v, statement->operands[i].made);
	return result ? result : v->visit(v->context, statement);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static int visit_block(const struct visit *v, const struct block *block)
{
	int result = 0;

	for (size_t i = 0; i < block->count && !result; i++)
		result = visit_statement(v, &block->list[i]);
	return result;
}

int block_visit(const struct block *block, const struct who *who, struct environment *env,
		int (*visit)(void *, struct statement *), void *context)
{
	struct visit v = {who, env, visit, context};

	return visit_block(&v, block);
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
