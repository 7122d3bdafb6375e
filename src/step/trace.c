/* SPDX-License-Identifier: MIT */
/*
 * Lines in shared memory: each takes its room at once, so that no two get into each other.
 */
#include "step/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "step/step.h"

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

/* As strace -f: whose it is, but of the process that began. */
static int put_whose(struct trace *trace, char *out, size_t size)
{
	pid_t tid = (pid_t)gettid(), none = 0;

	if (__atomic_compare_exchange_n(&trace->first, &none, tid, 0, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED) ||
	    none == tid)
		return 0;
	return snprintf(out, size, "[pid %d] ", (int)tid);
}

void trace_say(struct trace *trace, const char *line)
{
	char text[1600];
	size_t n;
	uint32_t at;

	if (!trace)
		return;
	n = (size_t)put_whose(trace, text, sizeof(text));
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
