/* SPDX-License-Identifier: MIT */
/*
 * What the processes and threads of a case share: words that one posts and another awaits, and the
 * first failure.
 */
#ifndef PERFABI_SYNC_H
#define PERFABI_SYNC_H

#include <stdint.h>

#include "language/verdict.h"

enum { SYNC_WORDS = 16, SYNC_WORD = 24 };

struct sync;

/*
 * Mapped from *fd, which is made where it is negative, so that it can be mapped again behind an
 * exec. NULL if that fails. It ends with the case's processes.
 */
struct sync *sync_make(int *fd);

/* Lets one that awaits the word go on, now or when it comes. 0, or -E2BIG: too many words. */
int sync_post(struct sync *s, const char *word);

/* Until the word is posted. 0, -E2BIG, or -ECANCELED once somebody has failed: none may come. */
int sync_await(struct sync *s, const char *word);

/* Tells all others of a failure; the first is kept. */
void sync_tell(struct sync *s, const struct verdict *failure);

/* Whether somebody has failed, and how. */
bool sync_failed(const struct sync *s, struct verdict *failure);

/* futex(2), FUTEX_WAIT while *word is `value`, and FUTEX_WAKE of all. */
void futex_wait(uint32_t *word, uint32_t value);
void futex_wake(uint32_t *word);

#endif
