/* SPDX-License-Identifier: MIT */
/*
 * One caller's question on its way to an answer: what the parts of an answer are made from.
 */
#ifndef PERFABI_WHY_ASKING_H
#define PERFABI_WHY_ASKING_H

#include "why/search.h"
#include "why/follow.h"
#include "why/knowledge.h"

enum { FOLLOWS_MAX = 8 };

/* What is asked of every caller. */
struct inquiry {
	struct model *model;
	const struct tables *tables;
	const struct knowledge *knowledge;
	const struct plan_of_stage *plan; /* one call, `asked`, and what was given before */
	struct follow follows[FOLLOWS_MAX];
	size_t follow_count;
	/* What somebody else was told of the open, and of the last call behind it: an errno's name,
	 * "ok", or NULL. */
	const char *told, *told_behind;
	bool is_tried; /* on this machine */
	bool is_brief; /* what it comes to is all that is asked */
};

/* Who asks, and what about. */
struct asking {
	const struct inquiry *inquiry;
	struct asker asker;
	struct call call; /* that is asked about; its image is the stage's */
	struct finding found;
	struct counted counted;
	pid_t zombie; /* for the witnesses */
	json_t *answer;
};

/* tell.c: a finding, a check and what can be the cause, for the call whose situation the asker has,
 * as members of `json`. */
void tell_finding(json_t *json, const struct finding *f, struct asking *a);
/* The errno of the open that somebody was told, or 0. */
int told_errno(const struct inquiry *inquiry);
/* Whether it opened elsewhere: somebody said so, or what the last call behind it came to. */
bool was_told_ok(const struct inquiry *inquiry);

/* remarks.c: what there is to say of that call: a new list of {"says", "proven", "useless"}. */
json_t *remarks_of(const struct remarks *remarks, struct asking *a);
/* Counts the event of that call, and begins its situation with what was counted. */
void count_call(struct asking *a, const struct call *call);
/* What was counted, as `counted` of the answer. */
void tell_counted(struct asking *a);

/* remedies.c: by what changes it opens, as `changes` of the answer, with what is behind. */
void seek_remedies(struct asking *a);
/* Takes one change more into the list, in its place; one that makes the same call, or reads the
 * same, is left out. */
void put_change(json_t *list, json_t *change);

/* follows.c: what comes of the calls on the event, as `then` of the answer. */
void follow_all(struct asking *a);

#endif
