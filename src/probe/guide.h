/* SPDX-License-Identifier: MIT */
/*
 * cases/probe.json: the topics, the facts of a machine that are shown beside what was tried, and
 * reasons that the model cannot give.
 */
#ifndef PERFABI_PROBE_GUIDE_H
#define PERFABI_PROBE_GUIDE_H

#include "language/when.h"
#include "text/source.h"

/* What a capability that is not there is looked up by. */
struct absence_of {
	const char *key;    /* "event.cycles.counts" */
	const char *caller; /* "root" */
	const char *token;  /* that is not met, or NULL: it was tried */
	int err;            /* the errno that it gave, or 0: it opened, and did not do its work */
};

struct guide {
	json_t *json;
	const json_t *topics, *reasons; /* of it */
};

/* `names`: of the reasons' `when`. 0, or a negative errno with `e` filled. Free with guide_free(),
 * whatever came. */
int guide_load(struct guide *guide, const struct source *source, const struct when_names *names,
	       struct error *e);
void guide_free(struct guide *guide);

/* The first reason that is about it and holds on this machine, or NULL. */
const json_t *guide_reason(const struct guide *guide, const struct absence_of *what,
			   struct environment *env);

#endif
