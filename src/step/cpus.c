/* SPDX-License-Identifier: MIT */
/*
 * Known before a case runs, so that it is skipped: it has not failed where it cannot begin.
 */
#include "step/cpus.h"

#include "step/steps.h"

static int barred(const json_t *step, const struct environment *env)
{
	const json_t *affinity = json_object_get(step, "affinity");
	json_int_t cpu = json_integer_value(affinity);

	if (!json_is_integer(affinity) || json_object_get(step, "when") || cpu < 0 ||
	    cpu >= CPU_SETSIZE || CPU_ISSET((size_t)cpu, &env->cpus_usable))
		return -1;
	return (int)cpu;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as lists of steps are nested */
int steps_barred_cpu(const json_t *steps, const struct environment *env)
{
	json_t *step;
	size_t i;

	json_array_foreach(steps, i, step) {
		int cpu = barred(step, env);

		for (size_t k = 0; cpu < 0 && steps_nested[k]; k++)
			cpu = steps_barred_cpu(json_object_get(step, steps_nested[k]), env);
		if (cpu >= 0)
			return cpu;
	}
	return -1;
}
