/* SPDX-License-Identifier: MIT */
/*
 * A case as a C program of its own: to be read, changed, and sent to others.
 */
#ifndef PERFABI_SHOW_H
#define PERFABI_SHOW_H

#include <stdio.h>

#include "case/cases.h"

/*
 * Writes the case as it is on this machine, which `env` is of. 0, or a negative errno with `e`
 * filled: -ENOTSUP where it has something that no C is written for.
 */
int show_in_c(FILE *f, const struct instance *instance, const struct cases *cases,
	      struct environment *env, struct error *e);

#endif
