/* SPDX-License-Identifier: MIT */
/*
 * What the processes and threads of a case share: words that one posts and another awaits, and the
 * first failure.
 */
#ifndef PERFABI_MEETING_H
#define PERFABI_MEETING_H

#include "step/steps.h"

enum { MEETING_WORDS = 16, MEETING_WORD = 24 };

/*
 * Mapped from *fd, which is made where it is negative, so that it can be mapped again behind an
 * exec. NULL if that fails. It ends with the case's processes.
 */
struct meeting *meeting_make(int *fd);

/* Lets one that awaits the word go on, now or when it comes. 0, or -E2BIG: too many words. */
int meeting_post(struct meeting *m, const char *word);

/* Until the word is posted. 0, -E2BIG, or -ECANCELED once somebody has failed: none may come. */
int meeting_await(struct meeting *m, const char *word);

/* Tells all others of a failure; the first is kept. */
void meeting_tell(struct meeting *m, const struct failure *failure);

/* Whether somebody has failed, and how. */
bool meeting_failed(const struct meeting *m, struct failure *failure);

/* futex(2), FUTEX_WAIT while *word is `value`, and FUTEX_WAKE of all. */
void futex_wait(uint32_t *word, uint32_t value);
void futex_wake(uint32_t *word);

#endif
