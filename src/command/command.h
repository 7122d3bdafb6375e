/* SPDX-License-Identifier: MIT */
/*
 * The commands of perfabi. Each takes its own argv, from the command's name on, and returns an exit
 * status.
 */
#ifndef PERFABI_COMMAND_H
#define PERFABI_COMMAND_H

#include <stdio.h>

#include "case/load.h"
#include "report/report.h"

int command_run(int argc, char **argv);
int command_list(int argc, char **argv);
int command_show(int argc, char **argv);
int command_check(int argc, char **argv);
int command_mutate(int argc, char **argv);
int command_capture(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_hunt(int argc, char **argv);
int command_why(int argc, char **argv);
int command_probe(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_report(int argc, char **argv);
int command_help(int argc, char **argv);

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

/* The command of that name, or NULL; `near` (may be NULL) is offered all. */
const struct command *command_find(const char *name, struct nearest *near);

/* The overview of all commands. */
void usage(FILE *f);

/* 0, or EXIT_HARNESS after a message if what was printed could not be written. */
int flush_stdout(void);

#endif
