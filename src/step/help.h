/* SPDX-License-Identifier: MIT */
/*
 * What the verbs' rows say of themselves: for people, and as JSON Schema.
 */
#ifndef PERFABI_STEP_HELP_H
#define PERFABI_STEP_HELP_H

#include <jansson.h>
#include <stdio.h>

/* The verbs and the workloads with their arguments and what they show. */
void steps_help(FILE *f);

/* The schema of a step: one of all verbs. A new reference. */
json_t *steps_schema(void);

#endif
