/* SPDX-License-Identifier: MIT */
/*
 * A question in any of the forms that people have it in: a call as JSON, an event as perf writes
 * it, lines of strace, what `perf record -vv` prints.
 */
#ifndef PERFABI_WHY_FORMS_H
#define PERFABI_WHY_FORMS_H

#include "why/question.h"

/*
 * Reads the text, of `size` bytes with a NUL behind it. `names` is cases/events.json. 0, or -EINVAL
 * with `e` filled, which says what the text could be. Free with question_free(), whatever came.
 */
int question_read(struct question *q, const struct source *text, const json_t *names,
		  struct environment *env, struct error *e);

#endif
