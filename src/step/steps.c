/* SPDX-License-Identifier: MIT */
/*
 * A list of steps from its first to its last: evaluate_arguments, do, look at what came, bind.
 */
#include "step/step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "language/pattern.h"
#include "machine/names.h"

/*
 * First what the call answered, then what is shown.
 */

/* An errno with its gates, where they were asked for; or what success is. */
static void describe(const struct step *s, int err, unsigned phases, char *out, size_t size)
{
	if (err && phases)
		phase_describe(&s->tables->phases, err, phases, out, size);
	else
		snprintf(out, size, "%s",
			 err                             ? errno_name(err)
			 : s->statement->verb->has_gates ? "an event"
							 : "success");
}

static bool judge_answer(struct step *s)
{
	const struct alternative *x = s->expected;
	bool is_right = s->err == x->err && (x->phase < 0 || s->phases >> x->phase & 1);
	char expected[512], got[160];

	if (is_right && !s->run->is_call)
		return true;
	describe(s, x->err, x->phase < 0 ? 0 : 1U << x->phase, expected, sizeof(expected));
	for (size_t i = 0; s->run->is_call && x->pattern && i < x->pattern->count; i++) {
		json_t *part = pattern_json(&x->pattern->parts[i]);
		char *text = json_dumps(part, JSON_COMPACT | JSON_ENCODE_ANY);
		size_t n = strlen(expected);

		snprintf(expected + n, sizeof(expected) - n, ", then %s %s",
			 x->pattern->parts[i].key, text ? text : "");
		free(text);
		json_decref(part);
	}
	describe(s, s->err, s->phases, got, sizeof(got));
	verdict_set(s->verdict, is_right ? PASS : FAIL, expected, got);
	return is_right;
}

/* Whether it is what was expected; else the step's verdict says what came. */
static bool step_judge(struct step *s)
{
	const struct alternative *x = s->expected;
	struct verdict why;
	bool good = false;

	if (!s->statement->alternative_count)
		return true;
	if (!x)
		return verdict_set(s->verdict, ERROR, "an alternative of expect that applies here",
				   "none");
	if (judge_answer(s)) {
		if (x->attr != ATTR_ANY && s->attr_is_written != (x->attr == ATTR_WRITTEN))
			verdict_set(s->verdict, FAIL, "attr as it was",
				    s->attr_is_written ? "another attr.size" : "attr as it was");
		else if (!x->pattern || pattern_match(x->pattern, s->shown, s->scope, &why))
			good = true;
		else
			verdict_set(s->verdict, (enum outcome)why.outcome, why.expected, why.got);
	}
	if (!good || s->run->is_call) {
		s->verdict->err = s->err;
		s->verdict->phases = s->phases;
	}
	return good;
}

/* 0, or a negative errno with the step's error filled. */
static int evaluate_arguments(struct step *s)
{
	const struct statement *statement = s->statement;
	struct compiling c = {.tables = s->tables,
			      .arch = s->tables ? s->tables->arch : NULL,
			      .scope = s->scope,
			      .arena = &s->arena,
			      .error = s->error,
			      .where = &(struct where){0}};
	int err = 0;

	s->arguments.text = s->arguments.end = "";
	for (const struct argument *a = statement->verb->arguments; !err && a->key; a++) {
		struct operand operand = statement->operands[a - statement->verb->arguments];
		unsigned char *out = (unsigned char *)&s->arguments + a->at;
		uint64_t number;
		int as_int;

		c.argument = a;
		if (operand.json && a->room && a->type->is_parsed_again &&
		    (!operand.is_settled || a->is_long))
			err = a->type->parse(&c, &operand);
		number = operand.json ? operand.number : a->fallback;
		as_int = (int)number;
		if (operand.made && a->type->is_made)
			memcpy(out, &operand.made, sizeof(operand.made));
		else if (a->type == &argument_write_target)
			s->arguments.fd = as_int;
		else if (a->room == sizeof(bool))
			*(bool *)out = number != 0;
		else if (!a->type->is_made && a->room)
			memcpy(out, a->room == sizeof(as_int) ? (void *)&as_int : &number, a->room);
	}
	return err;
}

static bool run_statement(struct steps *run, const struct statement *statement, size_t index,
			  struct verdict *v)
{
	struct error e = {0};
	struct step s = {.statement = statement,
			 .tables = run->tables,
			 .scope = &run->scope,
			 .run = run,
			 .error = &e,
			 .verdict = v};
	bool good = false;
	char *text;
	int err;

	if (!statement->is_on)
		return true;
	s.expected = statement->expected;
	err = evaluate_arguments(&s) ? -EINVAL : step_do(&s);
	trace_step(run->trace, &s);
	if (!err)
		good = step_judge(&s);
	else if (err != -EPROTO)
		verdict_set(v, err == -ECANCELED && !e.no_memory ? FAIL : ERROR, e.expected, e.got);
	if (good && statement->bind && !s.err) {
		if (statement->verb->binds == BINDS_SHOWN && s.shown)
			scope_bind_json(s.scope, statement->bind, s.shown);
		else
			scope_bind(s.scope, statement->bind, s.result);
	}
	/* The step that failed: where it stands, and the call if it was one. */
	if (run->is_call) {
		snprintf(v->call, sizeof(v->call), "%s", s.call);
	} else if (!good && err != -EPROTO) {
		text = s.call[0] ? NULL : json_dumps(statement->json, JSON_COMPACT);
		snprintf(v->call, sizeof(v->call), "step %zu: %s", index + 1, text ? text : s.call);
		free(text);
	}
	call_free(&s.made);
	arena_free(&s.arena);
	json_decref(s.shown);
	return good;
}

bool steps_run(struct steps *run, const struct block *block, struct verdict *v)
{
	*v = (struct verdict){.outcome = PASS};
	for (size_t i = 0; i < block->count; i++) {
		if (run->at_step)
			*run->at_step = (unsigned)i + 1;
		if (!run_statement(run, &block->list[i], i, v))
			return false;
	}
	return true;
}

bool steps_run_child(struct steps *run, const struct block *block)
{
	struct verdict *v = calloc(1, sizeof(*v));
	bool good = v && steps_run(run, block, v) && steps_end(run, v);

	if (v && !good)
		sync_tell(run->sync, v);
	free(v);
	return good;
}

/* Records that no step asked for must be well formed too. */
static bool decode_rest(struct steps *run, struct verdict *v)
{
	for (size_t i = run->first_map; i < run->map_count; i++) {
		struct map *map = &run->maps[i];
		struct error e = {0};
		json_t *records;

		if (!map->at || !map->is_data || map->event == NO_EVENT || map->mangled)
			continue;
		records = buffer_records(run, map, false, &e);
		json_decref(records);
		if (records)
			continue;
		snprintf(v->call, sizeof(v->call), "decoding the buffer of fd %d at the end",
			 map->fd);
		return verdict_set(v, FAIL, e.expected, e.got);
	}
	return true;
}

int child_wait(struct child *child, int *status)
{
	pid_t id = child->id;
	int err;

	child->id = 0;
	*status = 0;
	if (child->thread) {
		err = -pthread_join(child->thread->pthread, NULL);
		*status = child->thread->good ? 0 : 1 << 8;
		return err;
	}
	while (waitpid(id, status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static bool end_child(struct steps *run, struct child *child, struct verdict *v)
{
	int status = 0, err = child_wait(child, &status);
	char got[64];

	if (sync_failed(run->sync, v))
		return false;
	if (!err && !status)
		return true;
	if (err)
		snprintf(got, sizeof(got), "%s", errno_name(-err));
	else if (WIFSIGNALED(status))
		snprintf(got, sizeof(got), "signal %d", WTERMSIG(status));
	else
		snprintf(got, sizeof(got), "exit status %d", WEXITSTATUS(status));
	return verdict_set(v, ERROR, "a child that no step waits for to end well", got);
}

bool steps_end(struct steps *run, struct verdict *v)
{
	for (size_t i = 0; i < run->child_count; i++)
		if (run->children[i].id && !end_child(run, &run->children[i], v))
			return false;
	return !sync_failed(run->sync, v) && decode_rest(run, v);
}
