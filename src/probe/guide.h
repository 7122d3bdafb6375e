/* SPDX-License-Identifier: MIT */
/*
 * cases/probe.json: the topics, the facts of a machine that are shown beside what was tried, and
 * reasons that the model cannot give.
 */
#ifndef PERFABI_PROBE_GUIDE_H
#define PERFABI_PROBE_GUIDE_H

#include "language/when.h"
#include "text/doc.h"
#include "text/source.h"

/* What a capability that is not there is looked up by. */
struct absence_of {
	const char *key;    /* "event.cycles.counts" */
	const char *caller; /* "root" */
	const char *token;  /* that is not met, or NULL: it was tried */
	int err;            /* the errno that it gave, or 0: it opened, and did not do its work */
};

struct guide {
	const struct guide_topic {
		const char *name, *title;
		const struct guide_fact {
			const char *key, *title;
			const json_t *path; /* names of members, from the environment on */
			const char *unit, *instead;
			int shows; /* 1: of a mask, the first bit that is refused */
		} * facts;
		size_t fact_count;
	} * topics;
	size_t topic_count;
	const struct guide_reason {
		const char *key, *caller, *token, *err; /* globs, or NULL */
		bool is_of_opened; /* of what opens, and does not do its work */
		enum { ANSWER_UNKNOWN, ANSWER_NO, ANSWER_DENIED } answer;
		const char *because, *instead;
		const json_t *when; /* or NULL */
	} * reasons;
	size_t reason_count;
	struct arena arena;
};

/* Of a reason's `answer`, by its number. */
extern const char *const guide_answers[];

/* `names`: of the reasons' `when`. 0, or a negative errno with `e` filled. Free with guide_free(),
 * whatever came. */
int guide_load(struct guide *guide, const struct source *source, struct when_names *names,
	       struct error *e);
void guide_free(struct guide *guide);

/* The first reason that is about it and holds on this machine, or NULL. */
const struct guide_reason *guide_reason(const struct guide *guide, const struct absence_of *what,
					struct environment *env);

#endif
