/* SPDX-License-Identifier: MIT */
/*
 * Lists of steps, carried out.
 */
#ifndef PERFABI_STEPS_H
#define PERFABI_STEPS_H

#include "step/step.h"

/*
 * Carries the steps out, in order, until one fails; what they make goes with the process and its
 * group. True if none failed, else *v says which and how.
 */
bool steps_run(struct steps *s, const struct block *block, struct verdict *v);

/* Waits for the processes and threads that are still there, and decodes what no step has read. */
bool steps_end(struct steps *s, struct verdict *v);

/*
 * The list to its end and what belongs to that, in a child; a failure is told to the others.
 * Whether all was well.
 */
bool steps_run_child(struct steps *run, const struct block *block);

/* Waits for the child; its wait status in *status. 0 or a negative errno. */
int child_wait(struct child *child, int *status);

/* Goes on behind an exec with what the arguments say; verbs/process.c. */
int steps_after_exec(int argc, char **argv);

#endif
