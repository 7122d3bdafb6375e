/* SPDX-License-Identifier: MIT */
/*
 * The cpus that a case binds itself to, by number.
 */
#ifndef PERFABI_STEPS_CPUS_H
#define PERFABI_STEPS_CPUS_H

#include "machine/environment.h"

/*
 * A cpu that the steps, or lists within them, go to and this process may not (it is not in its
 * cpuset, or not there): its number, or -1.
 */
int steps_barred_cpu(const json_t *steps, const struct environment *env);

#endif
