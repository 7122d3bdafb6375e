/* SPDX-License-Identifier: MIT */
/*
 * Which cases a command works on: the built-in ones or those of a folder or file, picked by id and
 * filter.
 */
#ifndef PERFABI_LOAD_H
#define PERFABI_LOAD_H

#include "case/case.h"
#include "text/options.h"

/* Exit statuses of perfabi, but for 0. */
enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_HARNESS = 3, EXIT_ALL_SKIPPED = 4 };

/* A case set with all it hangs on. */
struct loaded {
	struct sources sources; /* borrowed from what follows */
	struct sources read[16];
	size_t read_count;
	struct abi *abi;
	struct environment env;
	struct cases cases;
	bool has_env, has_cases;
};

/*
 * Loads from `folder` (NULL: built in) or, if there are any among `arguments`, from the paths there
 * (is_path()). A folder or file may leave out abi/ and the shared tables: the
 * built-in ones serve then. Of the built-in ones, unless `whole`, only the files that the
 * ids and globs among `arguments` may mean. Errors go to stderr. 0, or the exit status.
 */
int load_cases(struct loaded *l, const char *folder, char *const arguments[], bool whole,
	       const char *program);

/* The same without the cases: the ABI and the tables that case files share alone. */
int load_tables(struct loaded *l, const char *folder, const char *program);
void load_free(struct loaded *l);

/*
 * Whether an argument is a file or folder, and not the name of cases: it has a / or ends in .json,
 * or there is one of that name and no suite is called so.
 */
bool is_path(const char *argument);

struct filter {
	int key; /* what of a case, as load.c lists them */
	const char *glob;
	bool negated;
};

struct filters {
	struct filter *list;
	size_t count;
};

/* Reads KEY=GLOB or KEY!=GLOB into a struct filters. 0, or a negative errno after a message. */
int filters_add(void *filters, const char *text, const struct option_row *row, const char *program);
void filters_free(struct filters *filters);

/*
 * Puts into `picked` the instances that one of the ids or globs among `arguments` means (all if
 * there is none), and that match every filter, in order; free() it. Exactly an id means that case
 * alone, though others may begin so. 0, or an exit status after a message, with NULL in `picked`:
 * of usage if an argument means nothing or no case is left, of the harness without memory.
 */
int pick(const struct cases *cases, char *const arguments[], const struct filters *filters,
	 const struct instance ***picked, size_t *count, const char *program);

/*
 * True if `glob` is the id, a folder of ids above it ("open.size"), or a glob that matches it; with
 * a = in front ("=open.size.zero.root") it is that id and no other.
 */
bool id_matches(const char *glob, const char *id);

/*
 * Whether it matches the id of one of them. Marks these in `marked`, by their places in the list,
 * unless that is NULL; of exactly an id that case alone, though others may begin so.
 */
bool cases_mark(const struct cases *cases, const char *glob, bool *marked);

/*
 * The sum over the files of FNV-1a (64 bits) of name, NUL and text: the same for the same files,
 * built in or read from a folder, in whatever order.
 */
uint64_t sources_hash(const struct sources *s);

#endif
