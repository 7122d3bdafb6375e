/* SPDX-License-Identifier: MIT */
/*
 * A deviation: one entry of a baseline, which says what a function of some kernels breaks.
 *
 *     {"id": "records.read.exit", "when": {"kernel": [">=5.13", "<6.17.13"]},
 *      "function": "sync_child_event", "why": "writes no READ", "seen": ["6.1.192"],
 *      "fixed": "6.19 (c418d8b4d7a4)"}
 */
#ifndef PERFABI_DEVIATION_H
#define PERFABI_DEVIATION_H

#include "case/case.h"

/* Texts are borrowed from `json`, and NULL where nothing is said. */
struct deviation {
	const json_t *json; /* the entry */
	bool of_machine;    /* its `when` names a machine: that breaks the promise, no kernel */
	const char *function /* of the kernel, or NULL */, *why;
	const char *since, *fixed; /* the version, or the commit */
	const char *sometimes;     /* what makes the case pass there all the same */
};

/*
 * Reads an entry, strictly; with `are_all`, each of its ids must be one of `cases`. 0, or -EINVAL
 * with `e` filled.
 */
int deviation_read(struct deviation *out, const json_t *json, const struct cases *cases,
		   bool are_all, const struct where *w, struct error *e);

/* Whether it is about that instance, on this machine. */
bool deviation_holds(const struct deviation *deviation, const struct instance *instance,
		     struct environment *env);

/* "kernel" or "machine": which of them breaks the promise. */
const char *deviation_whose(const struct deviation *deviation);

/* What breaks it and how, in words: "f() errs", or of a machine the entry's `why`; cut to fit. */
void deviation_words(const struct deviation *deviation, char *out, size_t size);

/* The kernels that have it, in words, cut to fit: "Linux >=5.13 <6.18 on x86". */
void deviation_kernels(const struct deviation *deviation, char *out, size_t size);

#endif
