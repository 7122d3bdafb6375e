/* SPDX-License-Identifier: MIT */
/*
 * Expectations of steps made wrong, one part at a time.
 */
#ifndef PERFABI_MUTATE_H
#define PERFABI_MUTATE_H

#include "step/program.h"

/* Whether the steps expect so many parts here, from 0. */
bool steps_have_part(const struct program *program, const struct who *who, struct environment *env,
		     unsigned part);

/* Turns that part round, in place. False if there are fewer, or there is no memory. */
bool steps_mutate(struct program *program, const struct who *who, struct environment *env,
		  unsigned part);

#endif
