/* SPDX-License-Identifier: MIT */
/*
 * A part of an expectation is one of its pattern's; what the call answers: of an errno, success, of
 * success, EINVAL; the gate. Parts are counted through the alternatives that count here.
 */
#include "step/mutate.h"

#include <errno.h>

#include "language/pattern.h"
#include "step/expect.h"

struct mutation {
	struct program *program; /* that is edited; NULL: nothing is */
	const struct who *who;
	struct environment *env;
	unsigned left; /* parts before the one that is meant */
};

static void edit_pattern(const struct mutation *m, struct alternative *x, json_t *pattern)
{
	if (m->program)
		x->pattern = arena_keep(&m->program->arena, pattern);
	else
		json_decref(pattern);
}

static void edit_answer(const struct mutation *m, struct alternative *x)
{
	if (!m->program)
		return;
	*x = (struct alternative){.when = x->when, .err = x->err ? 0 : EINVAL, .phase = -1};
}

/* The gate before or behind it. */
static void edit_phase(const struct mutation *m, struct alternative *x)
{
	if (m->program)
		x->phase += x->phase ? -1 : 1;
}

/* 1 when the part that is meant was this statement's. */
static int mutate_statement(void *context, struct statement *statement)
{
	struct mutation *m = context;
	struct alternative *x = expect_choose(statement, m->who, m->env);
	json_t *pattern = NULL;

	if (!x)
		return 0;
	if (x->pattern)
		pattern = pattern_mutate(x->pattern, &m->left);
	if (pattern)
		edit_pattern(m, x, pattern);
	else if (statement->verb->kind == CALLS && !m->left--)
		edit_answer(m, x);
	else if (x->phase >= 0 && !m->left--)
		edit_phase(m, x);
	else
		return 0;
	return 1;
}

/* Through the steps that are done here. */
bool steps_have_part(const struct program *program, const struct who *who, struct environment *env,
		     unsigned part)
{
	struct mutation m = {.who = who, .env = env, .left = part};

	return block_visit(&program->steps, who, env, mutate_statement, &m) == 1;
}

bool steps_mutate(struct program *program, const struct who *who, struct environment *env,
		  unsigned part)
{
	struct mutation m = {.program = program, .who = who, .env = env, .left = part};

	return block_visit(&program->steps, who, env, mutate_statement, &m) == 1;
}
