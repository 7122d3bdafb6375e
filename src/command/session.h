/* SPDX-License-Identifier: MIT */
/*
 * What every command that runs cases has: which, how, and what came of it.
 */
#ifndef PERFABI_SESSION_H
#define PERFABI_SESSION_H

#include <getopt.h>

#include "command/command.h"
#include "machine/host.h"

struct session {
	const char *program; /* "perfabi run", for messages */
	const char *folder;
	struct filters filters;
	struct run_options options;

	bool whole; /* loads every case, whichever it picks */
	struct loaded loaded;
	const struct instance **picked;
	size_t count;
	struct result *results;
	size_t result_count;
	struct run_end end;
	double began, shown; /* when progress was last shown */
	bool shows_progress;
};

/* Options that it knows, as getopt_long(3) has them, and the help on them. */
#define SESSION_OPTIONS                                                                            \
	{"cases", required_argument, NULL, 'c'}, {"filter", required_argument, NULL, 'F'},         \
		{"jobs", required_argument, NULL, 'j'}, {"timeout", required_argument, NULL, 't'}, \
		{"wait", required_argument, NULL, 'w'}, {"repeat", required_argument, NULL, 'r'},  \
		{"shuffle", required_argument, NULL, 's'},                                         \
	{                                                                                          \
		"help", no_argument, NULL, 'h'                                                     \
	}

void session_help(FILE *f);

/*
 * Takes one of these options. 0; -ENOENT: it is another; -EINVAL or -ENOMEM after a message.
 */
int session_option(struct session *s, int option, const char *value);

/* Says that an option's value is none; -EINVAL. */
int session_bad_value(const struct session *s, const char *option, const char *got,
		      const char *expected);

/* --host: calls the host so. 0, or -EINVAL after a message. */
int session_host(const struct session *s, struct host *host, const char *name);

/* The options as they are by default. */
void session_begin(struct session *s, const char *program);

/* Loads, picks, reads the machine, makes room for results. 0, or an exit status after a message. */
int session_prepare(struct session *s, char *const arguments[]);

/* Runs these instances into s->results, which is made anew. 0, or an exit status after a message.
 */
int session_run(struct session *s, const struct instance *const *instances, size_t count);

/* Whether the run was not what it should be: it gave up, or the machine is not as it was. */
bool session_is_flawed(const struct session *s);

/* A line on a terminal, once a run has taken half a second. */
void session_progress(struct session *s, size_t done, size_t total);

/* Frees it, and dies of the signal that ended the run, if one did. */
void session_end(struct session *s);

#endif
