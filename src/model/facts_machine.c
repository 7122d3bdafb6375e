/* SPDX-License-Identifier: MIT */
/*
 * What people need to know of a machine to change it; the kernel's checks do not ask it.
 */
#include "machine/cpus.h"
#include "machine/environment.h"
#include "model/fact.h"

static bool machine_has_perf(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->machine->env->paranoid != SYSCTL_ABSENT;
	return true;
}

static bool machine_has_lsm(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->machine->env->lsm[0] != '\0';
	return true;
}

static bool machine_processor_pmus(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	(void)fact;
	*value = 0;
	for (size_t i = 0; i < env->pmu_count; i++)
		*value += kinds_is_processor(s->machine->kinds, env->pmus[i].name);
	return env->pmu_count;
}

static bool machine_has_processor_pmu(const struct fact *fact, struct situation *s, uint64_t *value)
{
	bool known = machine_processor_pmus(fact, s, value);

	*value = *value != 0;
	return known;
}

/* People read it as the list; as a number it is how many. */
static bool machine_online(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->machine->env->cpus_online;
	return cpu_list_is_known(s->machine->env->online);
}

static int print_online(const struct fact *fact, const struct situation *s, uint64_t value,
			char *out, size_t size)
{
	(void)fact;
	(void)value;
	return snprintf(out, size, "%s", s->machine->env->online);
}

static bool machine_last_cpu(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->machine->env->cpu_limit ? s->machine->env->cpu_limit - 1 : 0;
	return s->machine->env->cpu_limit != 0;
}

/* What it gave. */
static bool told_as_errno(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = (uint64_t)s->world->told;
	return true;
}

const struct fact machine_facts[] = {
	{.name = "machine.online",
	 .about = "how many cpus run; in sentences, which",
	 .unknown = "it is not recorded of this machine",
	 .get = machine_online,
	 .print = print_online},
	{.name = "machine.last_cpu",
	 .about = "the highest number that a cpu can have",
	 .unknown = "it is not recorded of this machine",
	 .get = machine_last_cpu},
	{.name = "told.errno",
	 .about = "what the call gave, here or elsewhere, an errno; 0: that is not known",
	 .get = told_as_errno,
	 .print = fact_print_errno},
	{.name = "machine.has_perf",
	 .about = "1: the kernel has perf's sysctls",
	 .get = machine_has_perf},
	{.name = "machine.has_lsm",
	 .about = "1: a security module is known to be on",
	 .get = machine_has_lsm},
	{.name = "machine.processor_pmus",
	 .about = "how many PMUs it has for its processors",
	 .unknown = "sysfs tells of no PMU",
	 .get = machine_processor_pmus},
	{.name = "machine.has_processor_pmu",
	 .about = "1: it has one",
	 .unknown = "sysfs tells of no PMU",
	 .get = machine_has_processor_pmu},
	{.name = NULL}};
