/* SPDX-License-Identifier: MIT */
/*
 * The PMU that takes the event (perf_init_event), its kind, and the tracepoint that config names.
 */
#include <string.h>

#include "abi/attr.h"
#include "machine/proc.h"
#include "model/fact.h"
#include "text/json_text.h"

/* Of raw events it is the PMU's own type: PERF_TYPE_RAW is nobody's extended type. */
static bool pmu_takes_extended(struct evaluation *s, uint64_t *value)
{
	*value = s->pmu.extended_type == s->machine->type_raw;
	return *value || s->pmu.kind;
}

/* Its place in cases/model.json, from 1 on; 0: it is not there. */
static bool pmu_kind(struct evaluation *s, uint64_t *value)
{
	*value = s->pmu.kind ? (uint64_t)(s->pmu.kind - s->machine->kinds->list) + 1 : 0;
	return s->pmu.is_known;
}

/* Its place in the environment, from 1 on; 0: it is in none. */
static bool pmu_device(struct evaluation *s, uint64_t *value)
{
	*value = s->pmu.device ? (uint64_t)(s->pmu.device - s->machine->env->pmus) + 1 : 0;
	return true;
}

static int print_device(const struct fact *fact, const struct evaluation *s, uint64_t value,
			char *out, size_t size)
{
	(void)fact;
	if (value)
		return snprintf(out, size, "the PMU %s", s->machine->env->pmus[value - 1].name);
	return snprintf(out, size, "the PMU of type %u", s->type);
}

/* A processor's own has files of its cpus, or is the one that hardware events go to. */
static bool pmu_is_processors(struct evaluation *s, uint64_t *value)
{
	const struct pmu *pmu = s->pmu.device;

	*value = machine_is_hardware(s->machine, s->type) ||
		 (pmu && !s->pmu.kind && machine_is_processors(s->machine, pmu)) ||
		 (pmu && pmu == machine_processors_pmu(s->machine));
	return true;
}

/* Of a cache event the three names that config has. */
static int print_cache_event(const struct abi *abi, uint32_t config, char *out, size_t size)
{
	static const char *const parts[] = {"hw_cache_id", "hw_cache_op", "hw_cache_result"};
	const struct abi_value *names[3];

	for (size_t i = 0; i < 3; i++) {
		const struct abi_family *family = abi_family(abi, parts[i]);

		names[i] = family ? abi_value_of(family, config >> (8 * i) & 0xff) : NULL;
		if (!names[i])
			return snprintf(out, size, "%#x", config);
	}
	return snprintf(out, size, "%s %s %s", names[0]->name, names[1]->name, names[2]->name);
}

static bool pmu_named_config(struct evaluation *s, uint64_t *value)
{
	*value = s->config;
	return true;
}

static int print_event(const struct fact *fact, const struct evaluation *s, uint64_t value,
		       char *out, size_t size)
{
	const struct machine *machine = s->machine;
	const struct abi_family *family =
		abi_field_set(machine->config, s->type, machine->env->arch);
	const struct abi_value *name =
		family ? abi_value_of(family, s->pmu.extended_type ? (uint32_t)value : value)
		       : NULL;

	(void)fact;
	if (s->type == abi_number(machine->env->abi, "type", "hw_cache"))
		return print_cache_event(machine->env->abi, (uint32_t)value, out, size);
	return name ? snprintf(out, size, "%s", name->name)
		    : snprintf(out, size, "%#llx", (unsigned long long)value);
}

/* A device's cpumask has one cpu for each package; `cpus` has all that it is of. */
static bool pmu_cpu_is_in_mask(struct evaluation *s, uint64_t *value)
{
	const struct pmu *pmu = s->pmu.device;
	const char *list = !pmu ? "" : pmu->cpus[0] ? pmu->cpus : pmu->cpumask;

	if (pmu && !list[0] && !strcmp(pmu->name, "cpu")) {
		*value = true; /* the only one: it is of all cpus */
		return true;
	}
	if (s->call->cpu < 0 || !cpu_list_is_known(list))
		return false;
	*value = cpu_list_has(list, (unsigned)s->call->cpu);
	return true;
}

static bool pmu_is_of_packages(struct evaluation *s, uint64_t *value)
{
	*value = s->pmu.device && s->pmu.device->cpumask[0] && !s->pmu.device->cpus[0];
	return true;
}

/* Of software events and the like, those that are not extended registers. */
static bool pmu_regs(struct evaluation *s, uint64_t *value)
{
	bool known = learned_get(s->machine->learned, "kernel.regs", value);
	uint64_t plain;

	if (s->pmu.kind && learned_get(s->machine->learned, "kernel.plain_regs", &plain))
		*value &= plain;
	return known;
}

static bool pmu_has_config(struct evaluation *s, uint64_t *value)
{
	const struct learned_mask *mask = s->pmu.kind ? &s->pmu.kind->configs : NULL;
	uint64_t configs = mask ? mask->bits : 0;
	bool known = mask &&
		     (!mask->learned || learned_get(s->machine->learned, mask->learned, &configs));

	*value = s->config < 64 && configs >> s->config & 1;
	return known;
}

/* Whether the tracepoint that config is has the class. */
static bool pmu_tracepoint(const struct fact *fact, struct evaluation *s, uint64_t *value)
{
	const struct machine *machine = s->machine;
	unsigned classes =
		s->config < machine->tracepoint_limit ? machine->tracepoints[s->config] : 0;

	*value = classes >> fact->index & 1;
	/* Of another machine only those are known that it was asked about by name. */
	return machine->tracepoints && (machine->is_this || classes);
}

static const void *known_pmu(struct evaluation *s)
{
	return s->pmu.is_known ? s : NULL;
}

static const void *device_of(struct evaluation *s)
{
	return s->pmu.device;
}

static const void *kind_known(struct evaluation *s)
{
	return s->pmu.kind;
}

/* The same; of one that is not modelled nothing is so. */
static const void *any_kind_of(struct evaluation *s)
{
	static const struct pmu_kind none;

	return s->pmu.is_known && !s->pmu.kind ? &none : s->pmu.kind;
}

static const char unseen[] = "no PMU of sysfs has the type, and a processor's may take the event";
static const char no_kind[] = "the PMU is not modelled: only the kernel knows its rules";
static const char no_files[] = "what the PMU's files in sysfs say is not known";
static const char no_ids[] =
	"which tracepoints the machine has is not known: tracefs cannot be read";

#define KIND(which) .of = kind_known, .datum = DATUM(struct pmu_kind, has[which], ALWAYS_KNOWN)

const struct fact pmu_facts[] = {
	{"pmu.is_there", "1: a PMU has the type", unseen, .of = known_pmu,
	 .datum = DATUM(struct evaluation, pmu.is_there, ALWAYS_KNOWN)},
	{"pmu.kind", "what kind of PMU it is", unseen, .get = pmu_kind, .family = "pmu_kind"},
	{"pmu.extended_type",
	 "the type that the upper half of a hardware event's config names, or 0", NULL,
	 .of = fact_evaluation, .datum = DATUM(struct evaluation, pmu.extended_type, ALWAYS_KNOWN)},
	{"pmu.takes_extended", "1: hardware events may name it so", no_kind,
	 .get = pmu_takes_extended},
	{"pmu.has_config", "1: it has an event of that config",
	 "which events the PMU has is not known", .get = pmu_has_config},
	{"pmu.device", "the PMU's number among those of sysfs; 0: not in sysfs", NULL,
	 .get = pmu_device, .print = print_device},
	{"pmu.max_precise", "its caps/max_precise: the highest precise_ip", no_files,
	 .of = device_of, .datum = DATUM(struct pmu, max_precise, UNKNOWN_IF_NEGATIVE)},
	{"pmu.branches", "its caps/branches: the length of a branch stack, or 0", no_files,
	 .of = device_of, .datum = DATUM(struct pmu, branches, UNKNOWN_IF_NEGATIVE)},
	{"pmu.is_processors", "1: it is the processor's own, or hardware events go to it", NULL,
	 .get = pmu_is_processors},
	{"pmu.event", "config, shown as the event's name", NULL, .get = pmu_named_config,
	 .print = print_event},
	{"pmu.cpu_is_in_mask", "1: cpu is in its file cpus, or cpumask", no_files,
	 .get = pmu_cpu_is_in_mask},
	{"pmu.regs", "the registers of the architecture that it can sample",
	 "which registers the architecture has is not known", .get = pmu_regs, .is_mask = true},
	{"pmu.is_modelled", "1: the model knows all its checks", unseen, .of = any_kind_of,
	 .datum = DATUM(struct pmu_kind, has[PMU_MODELLED], ALWAYS_KNOWN)},
	{"pmu.excludes", "1: it takes exclude_ bits", no_kind, KIND(PMU_EXCLUDES)},
	{"pmu.all_clocks", "1: its events take every clock", no_kind, KIND(PMU_ALL_CLOCKS)},
	{"pmu.samples", "1: it can sample", no_kind, KIND(PMU_SAMPLES)},
	{"pmu.is_of_packages", "1: it has a cpumask, for it counts cpus and no tasks", NULL,
	 .get = pmu_is_of_packages},
	{"pmu.tasks", "1: it counts tasks", no_kind, KIND(PMU_TASKS)},
	{"pmu.extended_regs", "1: it samples extended registers", no_kind, KIND(PMU_EXTENDED_REGS)},
	{"pmu.simd_regs", "1: it samples SIMD registers", no_kind, KIND(PMU_SIMD_REGS)},
	{"pmu.aux_output", "1: it writes to another's AUX buffer", no_kind, KIND(PMU_AUX_OUTPUT)},
	{"pmu.aux_pause", "1: it can be paused", no_kind, KIND(PMU_AUX_PAUSE)},
	{"tracepoint.exists", "1: config is the id of a tracepoint that can be opened", no_ids,
	 .get_by = pmu_tracepoint, .index = TRACEPOINT_EXISTS_BIT},
	{.name = NULL}};

void facts_add_classes(struct facts *facts, const struct kinds *kinds, struct arena *arena)
{
	for (size_t i = 0; i < kinds->class_count; i++) {
		const struct tracepoint_class *class = &kinds->classes[i];
		struct fact fact = {.name = or_exit(arena_join(arena, "tracepoint.", class->name)),
				    .about = class->about,
				    .unknown = no_ids,
				    .get_by = pmu_tracepoint,
				    .index = i};

		facts_add(facts, &fact);
	}
}
