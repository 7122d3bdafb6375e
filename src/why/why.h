/* SPDX-License-Identifier: MIT */
/*
 * Why a call is refused, or does not do what it is for: as its caller, as others, and with other
 * sysctls.
 */
#ifndef PERFABI_WHY_H
#define PERFABI_WHY_H

#include "machine/restore.h"
#include "why/asking.h"
#include "why/question.h"

/* What the answer is made from. */
struct why {
	struct model *model;
	const struct tables *tables;
	const struct knowledge *knowledge;
	const struct question *question;
	enum identity as;
	bool is_tried; /* on this machine; else by the model alone */
	/* Holds the lock beside other perfabis, and puts sysctls back; NULL: none is written. */
	struct restorer *restorer;
};

/*
 * The answer: a new reference to the object that docs/why.md tells of. NULL with `e` filled: the
 * question is wrong, or what is `given` could not be had.
 */
json_t *why_answer(const struct why *why, struct error *e);

/* The answer for people, on `f`. */
void why_write(const json_t *answer, FILE *f);

#endif
