/* SPDX-License-Identifier: MIT */
/*
 * Expectations of steps, read and chosen.
 */
#include "step/expect.h"

#include <errno.h>
#include <string.h>

#include "language/pattern.h"
#include "machine/names.h"

/* A list in which an element has `when` is one of alternatives; any other is a pattern. */
static bool is_alternatives(const json_t *expect)
{
	json_t *item;
	size_t i;

	json_array_foreach(expect, i, item)
		if (json_object_get(item, "when"))
			return true;
	return false;
}

/* The pattern that an alternative has on what is shown, kept in the arena; *none if it has none. */
static const json_t *pattern_of(struct compiling *c, const json_t *expect, bool has_gates,
				bool *none)
{
	json_t *pattern;

	*none = false;
	if (!json_is_object(expect))
		return expect;
	pattern = json_copy((json_t *)expect);
	json_object_del(pattern, "when");
	json_object_del(pattern, "ok");
	json_object_del(pattern, "errno");
	if (has_gates)
		json_object_del(pattern, "phase");
	*none = pattern && !json_object_size(pattern);
	return arena_keep(c->arena, pattern);
}

static int read_errno(struct compiling *c, struct alternative *out, const json_t *name,
		      const struct verb *verb, const struct where *w)
{
	const char *text = json_string_value(name);
	struct nearest near = nearest_to(text ? text : "");

	if (verb->kind != CALLS)
		return error_value(c->error, w, name, "no errno: %s is no call that is under test",
				   verb->name);
	out->err = text ? errno_by_name(text, &near) : 0;
	return out->err ? 0
			: error_name(c->error, w, text ? text : "", near.best,
				     "the name of an errno");
}

static int read_phase(struct compiling *c, struct alternative *out, const json_t *name,
		      const struct where *w)
{
	const char *text = json_string_value(name);

	if (!text || !out->err)
		return error_value(c->error, w, name,
				   "the gate that refuses, as \"copy\", beside an errno");
	out->phase = phase_giving(&c->tables->phases, text, out->err, w, c->error);
	return out->phase < 0 ? -EINVAL : 0;
}

static int check_pattern(struct compiling *c, const json_t *pattern,
			 const struct statement *statement, const struct where *w)
{
	struct value_shape shape = statement_shape(statement, c->tables);
	int err = pattern_check(pattern, c->scope, w, c->error);

	if (!err && !shape.kind)
		return error_value(c->error, w, pattern,
				   "ok or errno: %s shows nothing a pattern could be on",
				   statement->verb->name);
	return err ? err : shape_check(pattern, &shape, w, c->error);
}

static int read_alternative(struct compiling *c, struct alternative *out, const json_t *expect,
			    const struct statement *statement, const struct where *w)
{
	const struct verb *verb = statement->verb;
	const json_t *name = json_object_get(expect, "errno"), *phase = NULL;
	struct where at_when = where_key(w, "when"), at_errno = where_key(w, "errno");
	struct where at_phase = where_key(w, "phase"), at_ok = where_key(w, "ok");
	const json_t *ok = json_object_get(expect, "ok");
	bool none;
	int err;

	*out = (struct alternative){.when = json_object_get(expect, "when"), .phase = -1};
	err = when_check(out->when, &c->names, &at_when, c->error);
	if (verb->has_gates)
		phase = json_object_get(expect, "phase");
	if (!err && ok && (!json_is_true(ok) || name))
		err = error_value(c->error, &at_ok, ok,
				  name ? "either ok or errno" : "true; a refusal has errno");
	if (!err && name)
		err = read_errno(c, out, name, verb, &at_errno);
	if (!err && phase)
		err = read_phase(c, out, phase, &at_phase);
	if (err)
		return err;
	out->pattern = pattern_of(c, expect, verb->has_gates, &none);
	if (!out->pattern)
		return error_no_memory(c->error, w, "memory for what is expected");
	if (none)
		out->pattern = NULL;
	return none ? 0 : check_pattern(c, out->pattern, statement, w);
}

int expect_compile(struct compiling *c, struct statement *statement, const struct where *w)
{
	const json_t *expect = statement_json(statement, "expect");
	bool are_several = is_alternatives(expect);
	size_t count = are_several ? json_array_size(expect) : 1;
	struct where at_expect = where_key(w, "expect");

	if (statement->verb->kind == PREPARES)
		return 0;
	if (json_is_object(expect) && !json_object_size(expect))
		return error_value(
			c->error, &at_expect, expect,
			"a pattern, ok or errno; a step that must succeed needs no expect");
	statement->alternatives = arena_alloc(c->arena, count * sizeof(*statement->alternatives));
	if (!statement->alternatives)
		return error_no_memory(c->error, w, "memory for what is expected");
	statement->alternative_count = count;
	if (!expect)
		statement->alternatives[0].phase = -1;
	for (size_t i = 0; expect && i < count; i++) {
		struct where at = are_several ? where_index(&at_expect, i) : at_expect;
		int err = read_alternative(c, &statement->alternatives[i],
					   are_several ? json_array_get(expect, i) : expect,
					   statement, &at);

		if (err)
			return err;
	}
	return 0;
}

struct alternative *expect_choose(const struct statement *statement, const struct who *who,
				  struct environment *env)
{
	for (size_t i = 0; i < statement->alternative_count; i++)
		if (when_holds(statement->alternatives[i].when, who, env))
			return &statement->alternatives[i];
	return NULL;
}

struct settling {
	const struct who *who;
	struct environment *env;
};

static int settle_statement(void *context, struct statement *statement)
{
	const struct settling *s = context;

	statement->is_on = true;
	statement->expected = expect_choose(statement, s->who, s->env);
	return 0;
}

void block_settle(const struct block *block, const struct who *who, struct environment *env)
{
	struct settling s = {who, env};

	block_visit(block, who, env, settle_statement, &s);
}
