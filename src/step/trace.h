/* SPDX-License-Identifier: MIT */
/*
 * The calls of a case as strace would show them, told while they are made by whichever of its
 * processes makes them.
 */
#ifndef PERFABI_TRACE_H
#define PERFABI_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct step;

/* Memory that is shared with all processes of a case. */
struct trace {
	pid_t first; /* whose lines bear no number; 0: nobody has told anything yet */
	uint32_t at; /* so many bytes of text there are; more than fit, if lines are missing */
	char text[1 << 20];
};

/* NULL with errno. Free with trace_free(). */
struct trace *trace_make(void);
void trace_free(struct trace *trace);

/* Forgets what was told, as where a case runs again. NULL: nobody asks. */
void trace_begin(struct trace *trace);

/* Writes what was told; a line that its process did not live to write whole is cut. */
void trace_print(const struct trace *trace, FILE *f);

/* Adds a line; whoever finds no room leaves it out. NULL: nobody asks. */
void trace_say(struct trace *trace, const char *line);

/* The same of a step that was done. */
void trace_step(struct trace *trace, const struct step *s);

#endif
