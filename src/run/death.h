/* SPDX-License-Identifier: MIT */
/*
 * What the process of a case leaves behind when it ends.
 */
#ifndef PERFABI_DEATH_H
#define PERFABI_DEATH_H

#include "run/runner.h"

/*
 * Its verdict, or, where it came to none, what became of it: `status` is that of waitpid(2),
 * `timeout` in seconds. The process may have been killed while it wrote its slot.
 */
void death_take_verdict(const struct worker *w, int status, double timeout, struct result *result);

#endif
