/* SPDX-License-Identifier: MIT */
/*
 * Baselines: what kernels and machines are known to break, kept apart from the cases, which state
 * the promise. One file, cases/baseline.json, is for all kernels:
 *
 *     {"about": "what kernels break", "deviations": [ENTRY, ...]}
 */
#ifndef PERFABI_BASELINE_H
#define PERFABI_BASELINE_H

#include "case/case.h"
#include "case/load.h"
#include "run/result.h"
#include "text/doc.h"
#include "text/outfile.h"

struct baseline {
	struct deviation *list;
	size_t count;
	const json_t *json; /* what the entries borrow from */
	char name[512];     /* of the file, for people */
	struct arena arena;
};

/*
 * Reads `choice`: a file; "none"; or NULL, which is baseline.json beside the cases, and without one
 * there the built-in one. 0, or an exit status after a message. Free with baseline_free(); results
 * point into it.
 */
int baseline_load(struct baseline *baseline, const char *choice, const struct loaded *loaded,
		  const char *program);
void baseline_free(struct baseline *baseline);

/* Whether that choice is that nothing is known. */
bool baseline_is_none(const char *choice);

extern const struct doc_type baseline_type;

/*
 * Reads one text. Each of its ids must be a case's, unless it or the cases are not all there are.
 * 0, or -EINVAL with `e` filled.
 */
int baseline_parse(struct baseline *baseline, const struct source *source,
		   const struct cases *cases, struct error *e);

/* The first entry that is about that instance on this machine, or NULL. */
const struct deviation *baseline_find(const struct baseline *baseline,
				      const struct instance *instance, struct environment *env);

/*
 * Turns fail into xfail and pass into xpass where an entry holds, the first that does, and says so
 * in the result. A pass of what fails only sometimes, or of what a kernel may have mended, stays a
 * pass, which has its entry; and so does that of a capability that is not there.
 */
void baseline_apply(const struct baseline *baseline, struct environment *env,
		    struct result *results, size_t count);

/* Texts are borrowed from `json`, and NULL where nothing is said. */
struct deviation {
	const json_t *json;       /* the entry */
	const json_t *ids, *when; /* one or a list; `when` may be NULL */
	bool of_machine; /* its `when` names a machine: that breaks the promise, no kernel */
	const char *function /* of the kernel, or NULL */, *why;
	const char *since, *fixed;   /* the version, or the commit */
	const struct abi_mend *mend; /* that `fixed` names: it holds for kernels without; or NULL */
	const char *sometimes;       /* what makes the case pass there all the same */
};

/* What entries are read with, as doc_read()'s context. */
struct deviation_reading {
	const struct cases *cases;
	bool are_all; /* each id must be one of the cases */
};

/* An entry, strictly read. */
extern const struct doc_type deviation_type;

/* "kernel" or "machine": which of them breaks the promise. */
const char *deviation_whose(const struct deviation *deviation);

/* What breaks it and how, in words: "f() errs", or of a machine the entry's `why`; cut to fit. */
void deviation_words(const struct deviation *deviation, char *out, size_t size);

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
 * reference.
 */
json_t *baseline_update(const struct baseline *baseline, const struct environment *env,
			const struct result *results, size_t count,
			struct baseline_changes *changes);

/* The same to a new file, which it puts in its place. 0 or a negative errno. */
int baseline_write(const json_t *baseline, struct outfile *out);

#endif
