/* SPDX-License-Identifier: MIT */
/*
 * Why a call is refused, or does not do what it is for: as its caller, as others, and with other
 * sysctls.
 */
#ifndef PERFABI_WHY_H
#define PERFABI_WHY_H

#include "machine/restore.h"
#include "why/explanation.h"
#include "why/knowledge.h"
#include "why/question.h"
#include "why/opened.h"

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

/*
 * The explanation, which lives as long as `why`: end that with why_free(), whatever came. NULL with
 * `e` filled: the question is wrong, or what is `given` could not be had.
 */
struct explanation *why_explain(struct why *why, struct error *e);
void why_free(struct why *why);

#endif
