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
	json_t *checks; /* the kernel's checks, or NULL */
	struct instance *list;
	size_t count;
	const struct instance **by_id; /* all of them, sorted by id */
	struct program **programs;     /* each once */
	size_t program_count;
	json_t *storage; /* the files, and what is kept of their cases */
};

/*
 * Loads every source but those of abi/ into *out. `machine` is uname's, or NULL. Tells every file's
 * first error to stderr as `program`; returns the number of files in error, 0 when all is well.
 * Free with cases_free().
 */
int cases_load(struct cases *out, const struct abi *abi, const char *machine,
	       const struct sources *sources, const char *program);
void cases_free(struct cases *cases);

/* The sources of cases/ (but abi/) as they were at build time. */
struct sources cases_builtin(void);

/* The instance of that id, the first if there are several; NULL: there is none. */
const struct instance *cases_find(const struct cases *cases, const char *id);

/* Offers every id. */
void cases_nearest(const struct cases *cases, struct nearest *near);

/*
 * The case that a token names, run as that identity where it is run as several; NULL if there is
 * none. `near`, if not NULL, is offered the ids.
 */
const struct instance *cases_required(const struct cases *cases, const char *token,
				      enum identity as, struct nearest *near);

#endif
