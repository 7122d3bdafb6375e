/* SPDX-License-Identifier: MIT */
/*
 * What every command that asks the model has: the tables, a machine, and the model of it.
 */
#ifndef PERFABI_MODELLED_H
#define PERFABI_MODELLED_H

#include "command/command.h"
#include "machine/lock.h"
#include "model/model.h"

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

/* Reads this machine's environment into `loaded`. 0, or an exit status after a message: there is no
 * /proc, which cases and the model look into, or a seccomp filter kills whoever calls. */
int read_machine(struct loaded *loaded, const char *program);

enum { BARRED_TEXT = 1024 };

/*
 * Whether nothing can be judged here; then `says` has the sentence for it, by the model: what is in
 * the way, and how to get it out. BARRED_TEXT bytes.
 */
bool is_barred_here(const struct model *model, const char *program, char *says);

/* The same where no model has been loaded. 0 with says[0] NUL where nothing is in the way; or an
 * exit status after a message. */
int barred_of_here(struct loaded *loaded, const char *program, char *says);

#endif
