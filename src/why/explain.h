/* SPDX-License-Identifier: MIT */
/*
 * What one caller's call comes to, and why.
 */
#ifndef PERFABI_WHY_EXPLAIN_H
#define PERFABI_WHY_EXPLAIN_H

#include "machine/restore.h"
#include "why/explanation.h"
#include "why/knowledge.h"
#include "why/question.h"
#include "why/then.h"

struct why {
	/* What is asked, and of what the answer is made. */
	struct model *model;
	const struct tables *tables;
	const struct knowledge *knowledge;
	const struct question *question;
	enum identity as;
	bool is_tried; /* on this machine; else by the model alone */
	/* Holds the lock beside other perfabis, and puts sysctls back; NULL: none is written. */
	struct restorer *restorer;

	/* What why_explain() has made of it. */
	struct pool *pool;         /* the answer's */
	struct plan_of_stage plan; /* one call, `asked`, and what was given before */
	struct then_call then[THEN_MOST];
	size_t then_count;
	bool is_spoiled; /* a sysctl is not as it was: none is changed any more */
};

/* How the question is asked. */
struct manner {
	enum identity as;
	bool is_tried; /* on this machine, in a process that has become the caller */
	bool is_brief; /* what the call comes to is all that is asked */
};

/* In why->pool; with its `failure` where it could not be asked. */
struct explanation *explain(const struct why *why, const struct manner *manner);

/* Takes one remedy more into x->remedies, in its place; one that makes the same call, or reads the
 * same, is left out. */
void explanation_add(struct explanation *x, const struct remedy_found *remedy);

/* A remedy that does `does`, and loses `loses` (NULL: nothing). */
struct remedy_found remedy_new(struct pool *pool, const char *does, const char *loses);

#endif
