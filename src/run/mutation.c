/* SPDX-License-Identifier: MIT */
/*
 * A case has ways of being wrong by what it is: a call, a capability, steps.
 */
#include "run/mutation.h"

#include "step/mutate.h"

const char *mutation_name(int kind)
{
	static const char *const names[MUTATIONS] = {
		[MUTATION_NONE] = "none",
		[MUTATION_OF_CALL + MUTATE_ERRNO] = "another errno",
		[MUTATION_OF_CALL + MUTATE_OUTCOME] = "success for failure",
		[MUTATION_OF_CALL + MUTATE_PHASE_BEFORE] = "phase before",
		[MUTATION_OF_CALL + MUTATE_PHASE_AFTER] = "phase after",
		[MUTATION_OF_CALL + MUTATE_ATTR] = "attr written",
		[MUTATION_OF_CALL + MUTATE_CLOEXEC] = "close-on-exec",
		[MUTATION_OF_STEPS] = "part of a step"};

	return names[kind];
}

/* A capability is wrong in one way: no outcome of it is known. */
static bool is_of_capability(struct mutation mutation)
{
	return mutation.kind == MUTATION_OF_CALL + MUTATE_OUTCOME;
}

bool mutation_applies(struct mutation mutation, const struct instance *instance,
		      const struct tables *tables, struct environment *env)
{
	const struct program *program = instance->program;
	const struct expectation *x;
	struct expectation wrong;

	if (program->has_steps)
		return mutation.kind == MUTATION_OF_STEPS &&
		       steps_have_part(program, &instance->who, env, mutation.part);
	if (program->is_capability)
		return is_of_capability(mutation);
	x = expectations_choose(&program->expect, &instance->who, env);
	if (!x || mutation.kind >= MUTATION_OF_STEPS)
		return false;
	wrong = *x;
	return expectation_mutate(&wrong, (enum call_mutation)(mutation.kind - MUTATION_OF_CALL),
				  tables);
}

bool mutation_make(struct mutation mutation, const struct instance *instance,
		   const struct tables *tables, struct environment *env)
{
	struct program *program = instance->program;
	struct expectation *x;

	if (program->has_steps)
		return steps_mutate(program, &instance->who, env, mutation.part);
	if (program->is_capability) {
		program->capability.mutated = is_of_capability(mutation);
		return program->capability.mutated;
	}
	x = expectations_choose(&program->expect, &instance->who, env);
	return x && expectation_mutate(x, (enum call_mutation)(mutation.kind - MUTATION_OF_CALL),
				       tables);
}
