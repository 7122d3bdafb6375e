/* SPDX-License-Identifier: MIT */
/*
 * The ways in which `perfabi mutate` makes the expectation of a case wrong.
 */
#ifndef PERFABI_MUTATION_H
#define PERFABI_MUTATION_H

#include "case/case.h"

/* Of a call, those of call_mutation behind the first; of steps, a part of what they expect. */
enum mutation_kind {
	MUTATION_NONE,
	MUTATION_OF_CALL,
	MUTATION_OF_STEPS = MUTATION_OF_CALL + CALL_MUTATIONS,
	MUTATIONS
};

struct mutation {
	int kind;      /* enum mutation_kind */
	unsigned part; /* of MUTATION_OF_STEPS: which, from 0 */
};

/* "another errno" */
const char *mutation_name(int kind);

/* Whether that way applies to the instance here. */
bool mutation_applies(struct mutation mutation, const struct instance *instance,
		      const struct tables *tables, struct environment *env);

/* Makes the program wrong in that way, in place. False if it does not apply. */
bool mutation_make(struct mutation mutation, const struct instance *instance,
		   const struct tables *tables, struct environment *env);

#endif
