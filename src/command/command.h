/* SPDX-License-Identifier: MIT */
/*
 * The commands of perfabi, a row each. What returns a status here returns 0, or an exit status
 * after a message.
 */
#ifndef PERFABI_COMMAND_H
#define PERFABI_COMMAND_H

#include <stdio.h>

#include "case/load.h"
#include "report/report.h"
#include "text/options.h"

struct command {
	const char *name, *help;
	const struct command_line *line;
	size_t size;                   /* of its settings, zeros ... */
	void (*begin)(void *settings); /* ... but for this; NULL: they are all zeros */
	/* The operands end with NULL. An exit status. */
	int (*run)(void *settings, char **operands);
	void (*end)(void *settings); /* whatever came of the options; NULL: nothing to free */
};

extern const struct command run_command, probe_command, diff_command, report_command, list_command,
	show_command, check_command, mutate_command, capture_command, predict_command, why_command,
	hunt_command;

/* 0, or EXIT_HARNESS after a message if what was printed could not be written. */
int flush_stdout(void);

/* Prints it, with those flags of json_dumps(3), and drops the reference. */
void print_json(json_t *json, size_t flags);

/* Says it, a line or more, and returns `status`. */
int fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints what is wrong in a file, and returns the exit status that it makes. */
int fail_with(const char *program, const struct error *e);

#endif
