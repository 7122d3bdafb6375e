/* SPDX-License-Identifier: MIT */
/*
 * What is asked of a program beside running it.
 */
#include "step/program.h"

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
