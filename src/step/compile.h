/* SPDX-License-Identifier: MIT */
/*
 * Lists of steps as a case file has them -> statements.
 */
#ifndef PERFABI_COMPILE_H
#define PERFABI_COMPILE_H

#include "step/program.h"

/*
 * Compiles a list of steps (NULL: none), and binds the names that they would bind. 0, or a negative
 * errno with compiling->error filled.
 */
int block_compile(struct compiling *c, struct block *out, const json_t *list,
		  const struct where *w);

/* The same of one step, which stands at `w` itself. */
int block_compile_one(struct compiling *c, struct block *out, const json_t *step,
		      const struct where *w);

#endif
