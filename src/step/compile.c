/* SPDX-License-Identifier: MIT */
/*
 * Each step's verb, its operands by the verb's rows, what it expects, what it binds; which of its
 * expectations counts; and those made wrong, one part at a time.
 */
#include <errno.h>
#include <string.h>

#include "language/pattern.h"
#include "machine/names.h"
#include "step/program.h"
#include "text/json_text.h"

/* What its verb shows with these operands; kind 0: nothing. `tables` may be NULL: as far as known.
 */
static struct value_shape statement_shape(const struct statement *statement,
					  const struct tables *tables)
{
	struct value_shape shape = statement->verb->shows;

	if (statement->verb->shape && tables)
		statement->verb->shape(tables, statement, &shape);
	return shape;
}

/*
 * Expectations of steps and outcomes of capabilities, read and chosen.
 */

/* The pattern that an alternative has on what is shown; *none if it has none. */
static json_t *pattern_of(const json_t *expect, bool has_gates, bool *none)
{
	json_t *pattern;

	*none = false;
	if (!json_is_object(expect))
		return json_incref((json_t *)expect);
	pattern = json_copy((json_t *)expect);
	json_object_del(pattern, "when");
	json_object_del(pattern, "ok");
	json_object_del(pattern, "errno");
	if (has_gates)
		json_object_del(pattern, "phase");
	*none = pattern && !json_object_size(pattern);
	return pattern;
}

/* An errno that some gate of phases.json can give; what none gives is a slip of the pen. */
static int gate_errno(struct compiling *c, const char *name, const struct where *w)
{
	const struct phases *phases = &c->tables->phases;
	struct nearest near = nearest_to(name);
	int err = errno_by_name(name, NULL);

	for (size_t i = 0; i < phases->count; i++) {
		for (const int *one = phases->list[i].errnos; *one; one++) {
			if (err == *one)
				return err;
			nearest_try(&near, errno_name(*one));
		}
	}
	return error_name(c->error, w, name, near.best,
			  "an errno that a gate of phases.json gives");
}

static int read_errno(struct compiling *c, struct alternative *out, const json_t *name,
		      const struct verb *verb, const struct where *w)
{
	const char *text = json_string_value(name);
	struct nearest near = nearest_to(text ? text : "");

	if (verb->kind != CALLS)
		return error_value(c->error, w, name, "no errno: %s is no call that is under test",
				   verb->name);
	if (!text)
		return error_value(c->error, w, name, "the name of an errno, as \"EINVAL\"");
	out->err = verb->has_gates ? gate_errno(c, text, w) : errno_by_name(text, &near);
	if (out->err > 0)
		return 0;
	return out->err < 0 ? out->err
			    : error_name(c->error, w, text, near.best, "the name of an errno");
}

static int read_alternative(struct compiling *c, struct alternative *out, const json_t *expect,
			    const struct statement *statement, const struct where *w)
{
	const struct verb *verb = statement->verb;
	const json_t *name = json_object_get(expect, "errno"), *phase = NULL;
	const json_t *ok = json_object_get(expect, "ok"), *pattern;
	struct value_shape shape;
	bool none;
	int err;

	*out = (struct alternative){.when = json_object_get(expect, "when"), .phase = -1};
	err = when_check(out->when, &c->names, AT_KEY(w, "when"), c->error);
	if (verb->has_gates)
		phase = json_object_get(expect, "phase");
	if (!err && ok && (!json_is_true(ok) || name))
		err = error_value(c->error, AT_KEY(w, "ok"), ok,
				  name ? "either ok or errno" : "true; a refusal has errno");
	if (!err && name)
		err = read_errno(c, out, name, verb, AT_KEY(w, "errno"));
	if (err)
		return err;
	if (phase && (!json_is_string(phase) || !out->err))
		return error_value(c->error, AT_KEY(w, "phase"), phase,
				   "the gate that refuses, as \"copy\", beside an errno");
	if (phase)
		out->phase = phase_giving(&c->tables->phases, json_string_value(phase), out->err,
					  AT_KEY(w, "phase"), c->error);
	if (phase && out->phase < 0)
		return -EINVAL;
	/* E2BIG is copy's, which writes the size, and others', which do not. */
	if (verb->has_gates && !json_object_get(expect, "attr") &&
	    !(out->err == E2BIG && out->phase < 0))
		out->attr = ATTR_KEPT;
	pattern = arena_keep(c->arena, pattern_of(expect, verb->has_gates, &none));
	if (!pattern)
		return error_no_memory(c->error, w, "memory for what is expected");
	if (none)
		return 0;
	shape = statement_shape(statement, c->tables);
	if (!shape.kind)
		return error_value(c->error, w, pattern,
				   "ok or errno: %s shows nothing a pattern could be on",
				   verb->name);
	out->pattern = pattern_compile(pattern, &shape, c->scope, c->arena, w, c->error);
	return out->pattern ? 0 : -EINVAL;
}

/*
 * Compiles the statement's `expect`, holds its patterns against what the verb shows, and binds what
 * they bind. 0, or a negative errno with compiling->error filled.
 */
static int expect_compile(struct compiling *c, struct statement *statement, const struct where *w)
{
	const json_t *expect = statement_json(statement, "expect");
	struct where at_expect = where_key(w, "expect");
	bool are_several = false;
	size_t count, k;
	json_t *item;

	if (statement->verb->kind == PREPARES)
		return 0;
	/* A list in which an element has `when` is one of alternatives; any other is a pattern. */
	json_array_foreach(expect, k, item)
		are_several = are_several || json_object_get(item, "when");
	count = are_several ? json_array_size(expect) : 1;
	if (json_is_object(expect) && !json_object_size(expect))
		return error_value(
			c->error, &at_expect, expect,
			"a pattern, ok or errno; a step that must succeed needs no expect");
	if (expect && statement->verb->has_gates && !are_several && !json_is_object(expect))
		return error_value(
			c->error, &at_expect, expect,
			"what must come: ok or errno, phase, attr, cloexec; or a list of such");
	statement->alternatives =
		or_exit(arena_alloc(c->arena, count * sizeof(*statement->alternatives)));
	statement->alternative_count = count;
	if (!expect)
		statement->alternatives[0] = (struct alternative){
			.phase = -1, .attr = statement->verb->has_gates ? ATTR_KEPT : ATTR_ANY};
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

/* A list of errnos, among which "otherwise" may be, if `otherwise` is not NULL. */
static int read_errnos(struct compiling *c, int out[PHASE_ERRNOS_MAX], bool *otherwise,
		       const json_t *list, const struct where *w)
{
	json_t *item;
	size_t i, count = 0;

	if (!json_is_array(list))
		return error_value(c->error, w, list, "a list of errnos");
	json_array_foreach(list, i, item) {
		struct where at = where_index(w, i);
		const char *name = json_string_value(item);

		if (!name)
			return error_value(c->error, &at, item, "the name of an errno");
		if (otherwise && !strcmp(name, "otherwise")) {
			*otherwise = true;
			continue;
		}
		if (count + 1 == PHASE_ERRNOS_MAX)
			return error_text(c->error, &at, "more", "at most %d errnos",
					  PHASE_ERRNOS_MAX - 1);
		out[count] = gate_errno(c, name, &at);
		if (out[count++] < 0)
			return -EINVAL;
	}
	return 0;
}

int outcomes_compile(struct compiling *c, struct outcomes *out, const json_t *json, bool is_call,
		     const struct where *w)
{
	const char *key, *yes = json_string_value(json_object_get(json, "yes"));
	json_t *list;
	int err = 0;

	if (!yes || strcmp(yes, "pass"))
		return error_value(c->error, w, json,
				   "\"yes\": \"pass\", with the errnos of no and denied");
	json_object_foreach((json_t *)json, key, list) {
		struct where at = where_key(w, key);

		if (!strcmp(key, "no"))
			err = read_errnos(c, out->no, is_call ? NULL : &out->otherwise, list, &at);
		else if (!strcmp(key, "denied"))
			err = read_errnos(c, out->denied, NULL, list, &at);
		else if (strcmp(key, "yes") != 0)
			err = error_name(c->error, &at, key, NULL, "yes, no or denied");
		if (err)
			return err;
	}
	return 0;
}

bool outcome_lists(const int errnos[PHASE_ERRNOS_MAX], int err)
{
	for (size_t i = 0; i < PHASE_ERRNOS_MAX && errnos[i]; i++)
		if (errnos[i] == err)
			return true;
	return false;
}

void outcomes_judge(const struct outcomes *outcomes, bool is_call, struct verdict *v)
{
	const char *answer = NULL;
	size_t n = strlen(v->expected);

	if (v->outcome == PASS)
		answer = "yes";
	else if (v->outcome == FAIL && outcome_lists(outcomes->denied, v->err))
		answer = "denied";
	else if (v->outcome == FAIL && (outcome_lists(outcomes->no, v->err) || outcomes->otherwise))
		answer = "no";
	if (is_call && (answer || (v->outcome == FAIL && v->err)))
		snprintf(v->expected + n, sizeof(v->expected) - n,
			 ", or one of the errnos that mean no or denied");
	if (!answer)
		return;
	v->outcome = PASS;
	snprintf(v->capability, sizeof(v->capability), "%s", answer);
}

struct alternative *expect_choose(const struct statement *statement, const struct who *who,
				  struct environment *env)
{
	for (size_t i = 0; i < statement->alternative_count; i++)
		if (when_holds(statement->alternatives[i].when, who, env))
			return &statement->alternatives[i];
	return NULL;
}

/* One operand an argument; what is not written comes to the row's fallback. */
static int compile_operands(struct compiling *c, struct statement *statement, const struct where *w)
{
	const struct argument *arguments = statement->verb->arguments;
	size_t count = 0;

	while (arguments[count].key)
		count++;
	statement->operands =
		or_exit(arena_alloc(c->arena, (count + 1) * sizeof(*statement->operands)));
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
	out->list =
		or_exit(arena_alloc(c->arena, (json_array_size(list) + 1) * sizeof(*out->list)));
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

/*
 * Parts are counted through the alternatives that count here, in the order of the steps.
 */

const char *const part_names[PART_COUNT] = {"part of a pattern", "success for failure",
					    "another errno",     "gate before",
					    "gate after",        "attr written"};

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

/* The statement's alternative, if the part that is meant is its own, made wrong; 1 then. */
static int mutate_statement(void *context, struct statement *statement)
{
	struct mutation *m = context;
	struct alternative *x = expect_choose(statement, m->who, m->env), wrong;
	struct arena *arena = m->edit ? &m->program->arena : NULL;

	if (!x)
		return 0;
	wrong = *x;
	if (x->pattern && pattern_mutate(x->pattern, &m->left, arena)) {
		m->part = PART_PATTERN;
	} else if (statement->verb->kind == CALLS && is_meant(m, PART_OUTCOME)) {
		wrong = (struct alternative){
			.when = x->when, .err = x->err ? 0 : EINVAL, .phase = -1};
	} else if (x->err && is_meant(m, PART_ERRNO)) {
		wrong.err = x->err == EINVAL ? ENOENT : EINVAL;
	} else if (x->phase > 0 && is_meant(m, PART_GATE_BEFORE)) {
		wrong.phase--;
	} else if (x->phase >= 0 && x->phase + 1 < (int)m->tables->phases.count &&
		   is_meant(m, PART_GATE_AFTER)) {
		wrong.phase++;
	} else if (x->attr == ATTR_KEPT && is_meant(m, PART_ATTR)) {
		wrong.attr = ATTR_WRITTEN;
	} else {
		return 0;
	}
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
