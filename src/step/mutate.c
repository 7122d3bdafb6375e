/* SPDX-License-Identifier: MIT */
/*
 * Parts are counted through the alternatives that count here, in the order of the steps.
 */
#include "step/mutate.h"

#include <errno.h>

#include "language/pattern.h"
#include "step/expect.h"

const char *const part_names[PARTS] = {"part of a pattern", "success for failure", "another errno",
				       "gate before",       "gate after",          "attr written"};

struct mutation {
	struct program *program;
	const struct who *who;
	struct environment *env;
	const struct tables *tables;
	bool edit;
	unsigned left; /* parts before the one that is meant */
	enum part part;
};

/* Whether a part that is there is the one that is meant. */
static bool is_meant(struct mutation *m, enum part part)
{
	if (m->left--)
		return false;
	m->part = part;
	return true;
}

/* The alternative with the part that is meant made wrong. False if that is another's. */
static bool mutate_alternative(struct mutation *m, struct alternative *x, enum verb_kind kind)
{
	struct arena *arena = m->edit ? &m->program->arena : NULL;

	if (x->pattern && pattern_mutate(x->pattern, &m->left, arena)) {
		m->part = PART_PATTERN;
	} else if (kind == CALLS && is_meant(m, PART_OUTCOME)) {
		*x = (struct alternative){.err = x->err ? 0 : EINVAL, .phase = -1};
	} else if (x->err && is_meant(m, PART_ERRNO)) {
		x->err = x->err == EINVAL ? ENOENT : EINVAL;
	} else if (x->phase > 0 && is_meant(m, PART_GATE_BEFORE)) {
		x->phase--;
	} else if (x->phase >= 0 && x->phase + 1 < (int)m->tables->phases.count &&
		   is_meant(m, PART_GATE_AFTER)) {
		x->phase++;
	} else if (x->attr == ATTR_KEPT && is_meant(m, PART_ATTR)) {
		x->attr = ATTR_WRITTEN;
	} else {
		return false;
	}
	return true;
}

/* 1 when the part that is meant was this statement's. */
static int mutate_statement(void *context, struct statement *statement)
{
	struct mutation *m = context;
	struct alternative *x = expect_choose(statement, m->who, m->env), wrong;

	if (!x)
		return 0;
	wrong = *x;
	if (!mutate_alternative(m, &wrong, statement->verb->kind))
		return 0;
	wrong.when = x->when;
	if (m->edit)
		*x = wrong;
	return 1;
}

enum part steps_part(struct program *program, const struct who *who, struct environment *env,
		     const struct tables *tables, unsigned number, bool edit)
{
	struct mutation m = {program, who, env, tables, edit, number - 1, NO_PART};

	block_visit(&program->steps, who, env, mutate_statement, &m);
	return m.part;
}
