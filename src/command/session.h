/* SPDX-License-Identifier: MIT */
/*
 * What every command that runs cases has: which, how, and what came of it.
 */
#ifndef PERFABI_SESSION_H
#define PERFABI_SESSION_H

#include "command/command.h"
#include "machine/host.h"
#include "text/options.h"

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

/* The options of a command that runs cases. */
extern const struct option_row session_options[];

/* --host of a struct host; as an option_row takes it. */
int take_host(void *host, const char *name, const struct option_row *row, const char *program);

/* --no-host. */
int take_no_host(void *host, const char *value, const struct option_row *row, const char *program);

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
