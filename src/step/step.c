/* SPDX-License-Identifier: MIT */
/*
 * What verbs use: what came of the call, events and mappings by fd. And a list of steps from its
 * first to its last: evaluate the arguments, do it, look at what came, bind.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "language/pattern.h"
#include "machine/names.h"
#include "step/step.h"
#include "text/json_text.h"

int step_failed(struct step *s, int err)
{
	char got[96];

	snprintf(got, sizeof(got), "%s (%s)", errno_name(err), strerror(err));
	error_text(s->error, NULL, got, "this preparation to succeed");
	return -err;
}

int step_prepared(struct step *s, long ret)
{
	s->result = (uint64_t)ret;
	return ret == -1 ? step_failed(s, errno) : 0;
}

bool step_has(const struct step *s, const char *key)
{
	return statement_json(s->statement, key) != NULL;
}

int step_misnamed(struct step *s, const char *key, const char *expected)
{
	return error_value(s->error, NULL, statement_json(s->statement, key), "%s", expected);
}

int step_broken(struct step *s, const char *got, const char *expected)
{
	error_text(s->error, NULL, got, "%s", expected);
	return -ECANCELED;
}

void step_say(struct step *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->call, sizeof(s->call), format, args);
	va_end(args);
}

void step_answer(struct step *s, long ret)
{
	size_t n;

	s->err = ret == -1 ? errno : 0;
	n = strlen(s->call);
	if (!n)
		return;
	if (s->err)
		snprintf(s->call + n, sizeof(s->call) - n, " = -1 %s (%s)", errno_name(s->err),
			 strerror(s->err));
	else
		snprintf(s->call + n, sizeof(s->call) - n, ret > UINT16_MAX ? " = %#lx" : " = %ld",
			 ret);
}

void step_show(struct step *s, const char *key, json_t *value)
{
	if (!s->shown)
		s->shown = json_object();
	json_object_set_new(s->shown, key, value);
}

void step_show_number(struct step *s, const char *key, uint64_t value)
{
	step_show(s, key, value_json(value));
}

void step_show_address(struct step *s, const char *key, uint64_t address)
{
	step_show(s, key, json_sprintf("0x%llx", (unsigned long long)address));
}

/* The newest that has or had that number. */
static struct opened *opened_as(const struct step *s, int fd)
{
	for (size_t i = s->run->event_count; i-- > 0;)
		if (s->run->events[i].fd == fd)
			return &s->run->events[i];
	return NULL;
}

struct opened *step_event(struct step *s, int fd)
{
	struct opened *opened = opened_as(s, fd);

	return opened && !opened->is_closed ? opened : NULL;
}

int step_which(const struct step *s, int fd)
{
	const struct opened *opened = opened_as(s, fd);

	return opened ? opened->event : NO_EVENT;
}

struct map *step_map(struct step *s, int fd, bool is_data)
{
	int event = step_which(s, fd);

	for (size_t i = s->run->map_count; i-- > 0;) {
		struct map *map = &s->run->maps[i];

		if (map->at && map->event == event && (event != NO_EVENT || map->fd == fd) &&
		    (map->is_data || !is_data))
			return map;
	}
	return NULL;
}

void step_keep_copy(struct step *s, const struct opened *event, int fd)
{
	if (s->run->event_count == OPENED_MAX)
		return;
	s->run->events[s->run->event_count] = *event;
	s->run->events[s->run->event_count++].fd = fd;
}

int steps_begin(struct steps *s, const struct tables *tables, const struct who *who,
		struct environment *env)
{
	*s = (struct steps){.tables = tables, .who = *who, .env = env};
	s->scope.env = env;
	s->scope.unmapped = call_unmapped_page(env);
	s->sync_fd = -1;
	s->sync = sync_make(&s->sync_fd);
	return s->sync ? 0 : -ENOMEM;
}

/*
 * Lines in shared memory: each takes its room at once, so that no two get into each other.
 */

struct trace *trace_make(void)
{
	struct trace *trace = mmap(NULL, sizeof(*trace), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return trace == MAP_FAILED ? NULL : trace;
}

void trace_free(struct trace *trace)
{
	if (trace)
		munmap(trace, sizeof(*trace));
}

void trace_begin(struct trace *trace)
{
	if (trace)
		memset(trace, 0, sizeof(*trace));
}

void trace_print(const struct trace *trace, FILE *f)
{
	size_t size = trace->at < sizeof(trace->text) ? trace->at : sizeof(trace->text);

	for (size_t i = 0; i < size; i++)
		if (trace->text[i])
			fputc(trace->text[i], f);
}

static void trace_say(struct trace *trace, const char *line)
{
	pid_t tid = (pid_t)gettid(), first = 0;
	char text[1600];
	size_t n = 0;
	uint32_t at;

	/* As strace -f: whose it is, but of the process that began. */
	if (!__atomic_compare_exchange_n(&trace->first, &first, tid, 0, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED) &&
	    first != tid)
		n = (size_t)snprintf(text, sizeof(text), "[pid %d] ", (int)tid);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n", line);
	if (n >= sizeof(text)) { /* cut */
		n = sizeof(text) - 1;
		text[n - 1] = '\n';
	}
	at = __atomic_fetch_add(&trace->at, (uint32_t)n, __ATOMIC_RELAXED);
	if (at > sizeof(trace->text) - sizeof(text)) {
		__atomic_fetch_sub(&trace->at, (uint32_t)n, __ATOMIC_RELAXED);
		return;
	}
	memcpy(trace->text + at, text, n);
}

/* A step that is no single call is shown as the case has it. */
static void trace_step(struct trace *trace, const struct step *s)
{
	char line[1400], *text;

	if (!trace)
		return;
	if (s->call[0]) {
		trace_say(trace, s->call);
		return;
	}
	text = or_exit(json_text(s->statement->json, JSON_COMPACT));
	snprintf(line, sizeof(line), "/* %.1200s */", text);
	free(text);
	trace_say(trace, line);
}

/*
 * Lists of steps. Of each, first what the call answered is judged, then what is shown.
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

/* Whether it is what was expected; else the step's verdict says what came. */
static bool step_judge(struct step *s)
{
	const struct alternative *x = s->expected;
	char expected[512], got[160];
	bool is_right, good = false;
	struct verdict why;

	if (!s->statement->alternative_count)
		return true;
	if (!x)
		return verdict_set(s->verdict, ERROR, "an alternative of expect that applies here",
				   "none");
	is_right = s->err == x->err && (x->phase < 0 || s->phases >> x->phase & 1);
	if (!is_right || s->run->is_call) {
		describe(s, x->err, x->phase < 0 ? 0 : 1U << x->phase, expected, sizeof(expected));
		for (size_t i = 0; s->run->is_call && x->pattern && i < x->pattern->count; i++) {
			json_t *part = pattern_json(&x->pattern->parts[i]);
			char *text = or_exit(json_text(part, JSON_COMPACT | JSON_ENCODE_ANY));
			size_t n = strlen(expected);

			snprintf(expected + n, sizeof(expected) - n, ", then %s %s",
				 x->pattern->parts[i].key, text);
			free(text);
			json_decref(part);
		}
		describe(s, s->err, s->phases, got, sizeof(got));
		verdict_set(s->verdict, is_right ? PASS : FAIL, expected, got);
	}
	if (is_right) {
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
		text = s.call[0] ? NULL : or_exit(json_text(statement->json, JSON_COMPACT));
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

bool steps_end(struct steps *run, struct verdict *v)
{
	char got[64];

	for (size_t i = 0; i < run->child_count; i++) {
		int status = 0, err;

		if (!run->children[i].id)
			continue;
		err = child_wait(&run->children[i], &status);
		if (sync_failed(run->sync, v))
			return false;
		if (!err && !status)
			continue;
		if (err)
			snprintf(got, sizeof(got), "%s", errno_name(-err));
		else if (WIFSIGNALED(status))
			snprintf(got, sizeof(got), "signal %d", WTERMSIG(status));
		else
			snprintf(got, sizeof(got), "exit status %d", WEXITSTATUS(status));
		return verdict_set(v, ERROR, "a child that no step waits for to end well", got);
	}
	if (sync_failed(run->sync, v))
		return false;
	/* Records that no step asked for must be well formed too. */
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
