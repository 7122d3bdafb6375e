/* SPDX-License-Identifier: MIT */
/*
 * The fewest changes by which a refused call opens: one, then pairs, then what one more change
 * brings further.
 */
#ifndef PERFABI_WHY_SEARCH_H
#define PERFABI_WHY_SEARCH_H

#include "setup/setup.h"
#include "why/knowledge.h"

/* What a call comes to. */
struct finding {
	enum fate outcome;          /* never UNFORESEEN of a call that was made */
	int err;                    /* where it is refused */
	const struct check *check;  /* that refuses it, or that cannot be told; or NULL */
	const struct fact *unknown; /* that keeps the model from telling; or NULL */
	bool is_foreseen;           /* the model says the same, and names the check */
	bool differs;               /* the model says something else: ... */
	int predicted;              /* ... this errno; 0: that it opens */
};

/* The judge's evaluation is that of the call afterwards. */
struct finding judge_call(struct judge *judge, const struct call *call);

enum { CHANGES_AT_ONCE = 4, REMEDIES = 12 };

/* A set of changes that lets the call open. */
struct remedy {
	size_t changes[CHANGES_AT_ONCE]; /* indexes, in their order */
	size_t count;
	bool is_fallback;      /* one of them puts another event in the place of the first */
	bool is_unsure;        /* nothing is tried, and the model cannot tell whether it opens */
	struct finding unsure; /* why not */
};

struct remedies {
	struct remedy list[REMEDIES];
	size_t count;
	bool is_cut; /* the search was given up before its end */
};

/*
 * Seeks them, by what the judge says of each call; `refused` is what the call as it is came to.
 * What is found with the fewest changes comes first, and of those with as many, what
 * stands first among the changes.
 */
void search_remedies(struct judge *judge, const struct changes *changes, const struct call *call,
		     const struct finding *refused, struct remedies *found);

/*
 * Makes the remedy's changes in *changed, whose image is abi->attr_size bytes of its own. Bytes
 * laid over attr become attr's own, so that changes are of what the kernel reads.
 */
void remedy_make(const struct remedy *remedy, struct judge *judge, const struct changes *changes,
		 const struct call *call, struct call *changed);

#endif
