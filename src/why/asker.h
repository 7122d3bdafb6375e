/* SPDX-License-Identifier: MIT */
/*
 * Asking what a call comes to: of the kernel where the caller stands on it, else of the model.
 */
#ifndef PERFABI_WHY_ASKER_H
#define PERFABI_WHY_ASKER_H

#include "stage/attempt.h"
#include "stage/stage.h"

/* Who asks, and among what. */
struct asker {
	const struct model *model;
	const struct stage *stage;
	struct caller caller;
	struct world world;
	struct attempts *attempts; /* NULL: nothing is tried, the model alone is asked */
	bool looks_behind; /* of the model: what it cannot tell is taken to be let through */
	struct situation situation;
	unsigned asked;
};

/* What a call comes to. */
struct finding {
	enum fate outcome;          /* never UNFORESEEN of a call that was made */
	int err;                    /* where it is refused */
	const struct check *check;  /* that refuses it, or that cannot be told; or NULL */
	const struct fact *unknown; /* that keeps the model from telling; or NULL */
	bool is_foreseen;           /* the model says the same, and names the check */
	bool differs;               /* the model says something else: ... */
	int foretold;               /* ... this errno; 0: that it opens */
};

/* The situation of the asker is that of the call afterwards. */
struct finding asker_ask(struct asker *a, const struct call *call);

#endif
