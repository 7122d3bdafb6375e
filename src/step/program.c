/* SPDX-License-Identifier: MIT */
/*
 * What is asked of a program beside running it.
 */
#include "step/program.h"

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
		if (arguments[i].type->holds && statement->operands[i].made)
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
