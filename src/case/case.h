/* SPDX-License-Identifier: MIT */
/*
 * The case files, loaded strictly, and the instances that they expand to: a case run once as each
 * identity, on each vehicle, with each row of its table.
 */
#ifndef PERFABI_CASE_H
#define PERFABI_CASE_H

#include "step/program.h"

enum kind { CONFORMANCE, CAPABILITY };

/* One thing to run: who, on what, with which row. */
struct instance {
	char *id;
	const char *suite, *name, *title;
	struct who who;
	enum kind kind;
	bool alone;              /* nothing else runs meanwhile */
	const json_t *spec;      /* complete */
	struct program *program; /* which the other identities have, too */
	const struct source *source;
	size_t case_index; /* in the source's `cases` */
};

/* Everything that is loaded from cases/, but for the ABI. */
struct cases {
	struct tables tables;
	struct arena shapes; /* of what the tables say that is shown */
	json_t *checks;      /* the kernel's checks, or NULL */
	json_t *bases;       /* base events, by name, or NULL */
	struct instance *list;
	size_t count;
	const struct instance **by_id; /* all of them, sorted by id */
	struct program **programs;     /* each once */
	size_t program_count;
	json_t *storage; /* the files, and what is kept of their cases */
	bool no_memory;  /* for all of them */
	bool are_some;   /* there may be cases that are not loaded */
	bool are_given;  /* of files that were named, in place of the built-in ones */
};

#endif
