/* SPDX-License-Identifier: MIT */
/*
 * Loading case files, and finding cases by their ids.
 */
#ifndef PERFABI_CASES_H
#define PERFABI_CASES_H

#include "case/case.h"

/* The files of cases/ that are no suites but tables; NULL-terminated. */
extern const char *const shared_tables[];

/* Whether a file of cases/ holds a suite: it is none of these and not of abi/. */
bool is_case_file(const char *name);

/*
 * Loads every source but those of abi/ into *out. `machine` is uname's, or NULL. Tells the first
 * error of each case to stderr as `program`; returns the number of files in error, 0 when all is
 * well. Free with cases_free().
 */
int cases_load(struct cases *out, const struct abi *abi, const char *machine,
	       const struct sources *sources, const char *program);

/* The same without the case files: the tables that they share alone. 0 or 1. */
int cases_load_tables(struct cases *out, const struct abi *abi, const char *machine,
		      const struct sources *sources, const char *program);
void cases_free(struct cases *cases);

/* The sources of cases/ (but abi/) as they were at build time. */
struct sources cases_builtin(void);

/* The suite of a case file, which is its path with dots for slashes, without .json. */
void say_suite(const char *path, char *text, size_t size);

/* The instance of that id, the first if there are several; NULL: there is none. */
const struct instance *cases_find(const struct cases *cases, const char *id);

/* The rows of a case file. */
extern const struct doc_type case_file_type;

/* Offers every id; or what an argument can pick: suites too, and nothing that is borrowed. */
void cases_nearest(const struct cases *cases, bool to_pick, struct nearest *near);

/* Whether all of these need what they require, as far as that can be seen; says where not. */
bool cases_check_use(const struct instance *const *list, size_t count, const char *program);

/*
 * The case that a token names, run as that identity where it is run as several; NULL if there is
 * none. `near`, if not NULL, is offered the ids.
 */
const struct instance *cases_required(const struct cases *cases, const char *token,
				      enum identity as, struct nearest *near);

#endif
