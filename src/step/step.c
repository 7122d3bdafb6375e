/* SPDX-License-Identifier: MIT */
/*
 * What verbs use: what came of the call, events and mappings by fd.
 */
#include "step/step.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine/names.h"

int step_failed(struct step *s, int err)
{
	struct where nowhere = {0};
	char got[96];

	snprintf(got, sizeof(got), "%s (%s)", errno_name(err), strerror(err));
	error_text(s->error, &nowhere, got, "this preparation to succeed");
	return -err;
}

int step_do(struct step *s)
{
	return s->statement->verb->run(s);
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
	struct where nowhere = {0};

	return error_value(s->error, &nowhere, statement_json(s->statement, key), "%s", expected);
}

int step_broken(struct step *s, const char *got, const char *expected)
{
	struct where nowhere = {0};

	error_text(s->error, &nowhere, got, "%s", expected);
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

void steps_inherit(struct steps *to, const struct steps *from)
{
	*to = *from;
	scope_copy(&to->scope, &from->scope);
	to->child_count = 0;
	to->first_map = to->map_count;
	to->at_step = NULL;
	to->refused = NULL; /* it would be this process's own */
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
void trace_step(struct trace *trace, const struct step *s)
{
	char line[1400], *text;

	if (!trace)
		return;
	if (s->call[0]) {
		trace_say(trace, s->call);
		return;
	}
	text = json_dumps(s->statement->json, JSON_COMPACT);
	snprintf(line, sizeof(line), "/* %.1200s */", text ? text : s->statement->verb->name);
	free(text);
	trace_say(trace, line);
}
