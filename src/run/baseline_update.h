/* SPDX-License-Identifier: MIT */
/*
 * A baseline brought up to what a run has found, and written as people write it.
 */
#ifndef PERFABI_BASELINE_UPDATE_H
#define PERFABI_BASELINE_UPDATE_H

#include "run/baseline.h"
#include "text/outfile.h"

/* What was changed, and what has to be looked at by people. */
struct baseline_changes {
	size_t added;    /* entries for failures that nothing knew */
	size_t seen;     /* entries that were seen on this kernel, too */
	size_t narrowed; /* entries that end before this kernel, which keeps the promise */
	size_t left;     /* results that it cannot have: see baseline_update() */
};

/*
 * The baseline with what the results, which baseline_apply() has seen, say of this kernel: a
 * failure becomes an entry for this architecture from this version on, an xfail a version in
 * `seen`, an xpass the end of its entry. Left are errors, runs that differed, and an xpass of an
 * entry that holds still for another case or was seen on this version or a later one. A new
 * reference, or NULL without memory.
 */
json_t *baseline_update(const struct baseline *baseline, const struct environment *env,
			const struct result *results, size_t count,
			struct baseline_changes *changes);

/* Prints it in the form of cases/baseline.json. */
void baseline_print(const json_t *baseline, FILE *f);

/* The same to a new file, which it puts in its place. 0 or a negative errno. */
int baseline_write(const json_t *baseline, struct outfile *out);

#endif
