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
#include "text/doc.h"

/* Texts are borrowed from `json`, and NULL where nothing is said. */
struct deviation {
	const json_t *json;       /* the entry */
	const json_t *ids, *when; /* one or a list; `when` may be NULL */
	bool of_machine; /* its `when` names a machine: that breaks the promise, no kernel */
	const char *function /* of the kernel, or NULL */, *why;
	const char *since, *fixed; /* the version, or the commit */
	const char *sometimes;     /* what makes the case pass there all the same */
};

/* What entries are read with, as doc_read()'s context. */
struct deviation_reading {
	const struct cases *cases;
	bool are_all; /* each id must be one of the cases */
};

/* An entry, strictly read. */
extern const struct doc_type deviation_type;

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
