/* SPDX-License-Identifier: MIT */
/*
 * The case files, loaded strictly, and the instances that they expand to: a case run once as each
 * identity, on each vehicle, with each row of its table.
 */
#ifndef PERFABI_CASE_H
#define PERFABI_CASE_H

#include "machine/environment.h"
#include "call/phase.h"

enum kind { CONFORMANCE, CAPABILITY };

/*
 * One thing to run: who, on what, with which row. Its JSON is put together when it is needed
 * (body_make), since thousands of merged cases would be carried through every fork.
 */
struct instance {
	char *id;
	const char *suite, *name, *title;
	const char *row;     /* of `each`, or NULL */
	const char *vehicle; /* or NULL */
	enum identity as;
	enum kind kind;
	bool alone;         /* nothing else runs meanwhile */
	const json_t *spec; /* complete */
	const struct source *source;
	size_t case_index;            /* in the source's `cases` */
	const json_t *file, *written; /* the file, and the case as it is written there */
	const char *parameter;        /* of `each`, or NULL */
	const json_t *value;          /* the parameter's, in this row */
};

/* The whole of a case: defaults and vehicle merged in, parameters put in. */
struct body {
	json_t *definition;         /* owned; the others are members of it */
	const json_t *given, *open; /* given may be NULL; open is NULL where there are steps */
	const json_t *steps;        /* a list, or NULL: one call */
	const json_t *sysctl;       /* by name, what the machine has while it runs; or NULL */
	const json_t *cgroup;       /* the hierarchy in which it has one of its own, or NULL */
	const json_t *expect;       /* an object or a list; NULL for a capability, or with steps */
	const json_t *outcome;      /* of a capability */
	const json_t *requirements; /* a list of tokens, or NULL */
};

/* Everything that is loaded from cases/, but for the ABI. */
struct cases {
	const struct abi *abi;
	const struct abi_arch *arch; /* the host's, for register names; may be NULL */
	struct perfabi *decoder;     /* over the same ABI */
	struct phases phases;
	json_t *vehicles;       /* by name */
	json_t *checks;         /* the kernel's checks, or NULL */
	json_t *record_members; /* of record_members.h */
	struct instance *list;
	size_t count;
	const struct instance **by_id; /* all of them, sorted by id */
	json_t *storage;               /* the files, and what is kept of their cases */
	char **rows;                   /* row names, owned */
	size_t row_count;
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

/* 0 or -ENOMEM. Free with body_free(). */
int body_make(const struct cases *cases, const struct instance *instance, struct body *body);
void body_free(struct body *body);

/* The instance of that id, the first if there are several; NULL: there is none. */
const struct instance *cases_find(const struct cases *cases, const char *id);

/* Offers every id. */
void cases_nearest(const struct cases *cases, struct nearest *near);

#endif
