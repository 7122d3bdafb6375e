/* SPDX-License-Identifier: MIT */
/*
 * What `perfabi why` is asked: the call, what was done before it, what is done behind it.
 */
#ifndef PERFABI_WHY_QUESTION_H
#define PERFABI_WHY_QUESTION_H

#include "machine/environment.h"
#include "text/source.h"
#include "why/event_name.h"

struct question {
	json_t *as;    /* a text, or NULL */
	json_t *open;  /* as a case has it */
	json_t *given; /* a list of steps before it */
	json_t *then;  /* a list of calls on the event; see why/follow.h */
	json_t *notes; /* texts: what of the call is another here, or NULL */
	/* What the open, and the last of `then`, came to elsewhere: an errno's name or "ok"; or
	 * NULL. */
	json_t *told, *told_behind;
	struct absence absence; /* what keeps the event's name from being a call */
};

/*
 * Fills the question from JSON, or from an event as perf writes it. `names` is cases/events.json.
 * 0, or -EINVAL with `e` filled.
 */
int question_of_json(struct question *q, const struct source *text, const json_t *names,
		     struct environment *env, struct error *e);
int question_of_name(struct question *q, const struct source *text, const json_t *names,
		     struct environment *env, struct error *e);
void question_free(struct question *q);

#endif
