/* SPDX-License-Identifier: MIT */
/*
 * What the verbs' rows say of themselves: for people, and as JSON Schema.
 */
#ifndef PERFABI_STEP_HELP_H
#define PERFABI_STEP_HELP_H

#include <stdio.h>

/* The verbs and the workloads with their arguments and what they show. */
void steps_help(FILE *f);

/* The schema of a step: one of all verbs, each in a line. 0, or -ENOMEM. */
int steps_schema(FILE *f);

#endif
