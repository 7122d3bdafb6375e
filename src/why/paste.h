/* SPDX-License-Identifier: MIT */
/*
 * Calls that people paste from other tools, of other processes and at another time.
 */
#ifndef PERFABI_WHY_PASTE_H
#define PERFABI_WHY_PASTE_H

#include "why/question.h"

/*
 * Fills the question from lines of strace, or from blocks of perf -vv. 0, or -EINVAL with `e`
 * filled.
 */
int paste_strace(struct question *q, const struct source *text, const struct environment *env,
		 struct error *e);
int paste_blocks(struct question *q, const struct source *text, const struct environment *env,
		 struct error *e);

#endif
