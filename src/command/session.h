/* SPDX-License-Identifier: MIT */
/*
 * What commands share: the machine and the lock on it, the model of it or of another machine, and
 * runs of cases.
 */
#ifndef PERFABI_SESSION_H
#define PERFABI_SESSION_H

#include "command/command.h"
#include "machine/host.h"
#include "machine/lock.h"
#include "model/model.h"
#include "run/run.h"
#include "text/options.h"

/*
 * Whether a seccomp filter kills who makes the call, so that nothing can be asked; a child finds
 * out. EXIT_ALL_SKIPPED after a message then, else 0.
 */
int barred_by_death(const char *program);

/* Waits while another perfabi has the machine for itself, and says so after some seconds. */
void wait_for_others(struct machine_lock *lock, double silent, const char *program);

struct modelled {
	struct loaded loaded;
	struct environment recorded; /* of another machine */
	bool is_recorded, has_model;
	struct model model;
};

/*
 * Loads the tables of `folder` (NULL: built in) and settles the model for this machine, or for the
 * one whose environment or report is in the file `machine`. 0, or an exit status after a message.
 * Free with modelled_free(), whatever came.
 */
int modelled_load(struct modelled *m, const char *folder, const char *machine, const char *program);
void modelled_free(struct modelled *m);

/*
 * The model of this machine, whose environment and tables are in `loaded`, with what its kernel
 * teaches. 0, or an exit status after a message. Free with model_free(), whatever came.
 */
int model_of_here(struct model *model, struct loaded *loaded, const char *program);

enum { BARRED_TEXT = 1024 };

/*
 * Whether nothing can be judged here; then `says` has the sentence for it, by the model: what is in
 * the way, and how to get it out. BARRED_TEXT bytes.
 */
bool is_barred_here(const struct model *model, const char *program, char *says);

/* The same where no model has been loaded. 0 with says[0] NUL where nothing is in the way; or an
 * exit status after a message. */
int barred_of_here(struct loaded *loaded, const char *program, char *says);

enum { TIMEOUT = 10 }; /* seconds, of a case, where none is given */

/* What every command that runs cases has: which, how, and what came of it. */
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

/* Dies of the signal, once what was printed is out; an exit status, should that fail. */
int end_by_signal(int sig);

/* Frees it, and dies of the signal that ended the run, if one did. */
void session_end(struct session *s);

#endif
