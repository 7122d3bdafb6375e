/* SPDX-License-Identifier: MIT */
/*
 * The PMU that takes the event (perf_init_event), its kind, and the tracepoint that config names.
 */
#include <string.h>

#include "abi/attr.h"
#include "machine/proc.h"
#include "model/fact.h"
#include "text/json_text.h"

static uint32_t learned_number(const struct machine *machine, const char *name)
{
	const struct learned_item *item = name ? learned_find(machine->learned, name) : NULL;

	return item && item->is_known ? (uint32_t)item->value : 0;
}

/* The PMU of that type in sysfs, or NULL. */
static const struct pmu *pmu_of_type(const struct environment *env, uint32_t type)
{
	for (size_t i = 0; i < env->pmu_count; i++)
		if (env->pmus[i].type == type)
			return &env->pmus[i];
	return NULL;
}

/* Those that sysfs does not show have a type that was learned. Where it shows none, some are known
 * by the type that <linux/perf_event.h> has of their name. */
static const struct pmu_kind *hidden_kind(const struct machine *machine, uint32_t type)
{
	const struct abi_value *name = abi_value_of(abi_family(machine->env->abi, "type"), type);

	for (size_t i = 0; i < machine->kinds->count; i++) {
		const struct pmu_kind *kind = &machine->kinds->list[i];

		if (kind->type.learned && type &&
		    learned_number(machine, kind->type.learned) == type)
			return kind;
		if (!machine->env->pmu_count && name && !strcmp(kind->name, name->name))
			return kind;
	}
	return NULL;
}

/* The type by which the PMU is looked for: of hardware events config may name one (5.13). */
static uint32_t type_sought(struct evaluation *s)
{
	const struct machine *machine = s->machine;
	uint32_t type = (uint32_t)attr_get(machine->type, s->attr, host_order());

	if (type >= 64 || !(machine->hardware_types >> type & 1) || type == machine->type_raw)
		return type;
	if (machine->extended_types && machine->extended_types->value)
		s->pmu.extended_type =
			(uint32_t)(attr_get(machine->config, s->attr, host_order()) >> 32);
	return s->pmu.extended_type ? s->pmu.extended_type : (uint32_t)machine->type_raw;
}

/* Finds the PMU of the call, into s->pmu; false: it is not known. */
static bool evaluation_pmu(struct evaluation *s)
{
	const struct environment *env = s->machine->env;
	uint32_t type, own;
	bool is_hardware;

	if (s->pmu.was_sought)
		return s->pmu.is_known;
	memset(&s->pmu, 0, sizeof(s->pmu));
	s->pmu.was_sought = true;
	type = type_sought(s);
	own = (uint32_t)attr_get(s->machine->type, s->attr, host_order());
	is_hardware = own < 64 && s->machine->hardware_types >> own & 1;
	s->pmu.device = pmu_of_type(env, type);
	/* Not everywhere the processor's PMU has the type of raw events. */
	if (!s->pmu.device && is_hardware && !s->pmu.extended_type)
		s->pmu.device = machine_processors_pmu(s->machine);
	s->pmu.kind = s->pmu.device ? kinds_find(s->machine->kinds, s->pmu.device->name)
				    : hidden_kind(s->machine, type);
	s->pmu.is_there = s->pmu.device || s->pmu.kind;
	/* A type that nobody has is offered to all; a processor's PMU may take hardware events.
	 * Where sysfs tells of no PMU, there may be others. */
	s->pmu.is_known = s->pmu.is_there ||
			  (env->pmu_count && (!is_hardware || !machine_has_other_pmus(s->machine)));
	return s->pmu.is_known;
}

/* Of raw events it is the PMU's own type: PERF_TYPE_RAW is nobody's extended type. */
static bool pmu_takes_extended(struct evaluation *s, uint64_t *value)
{
	evaluation_pmu(s);
	*value = s->pmu.extended_type == s->machine->type_raw;
	return *value || s->pmu.kind;
}

/* Its place in cases/model.json, from 1 on; 0: it is not there. */
static bool pmu_kind(struct evaluation *s, uint64_t *value)
{
	bool known = evaluation_pmu(s);

	*value = s->pmu.kind ? (uint64_t)(s->pmu.kind - s->machine->kinds->list) + 1 : 0;
	return known;
}

/* Its place in the environment, from 1 on; 0: it is in none. */
static bool pmu_device(struct evaluation *s, uint64_t *value)
{
	evaluation_pmu(s);
	*value = s->pmu.device ? (uint64_t)(s->pmu.device - s->machine->env->pmus) + 1 : 0;
	return true;
}

static int print_device(const struct fact *fact, const struct evaluation *s, uint64_t value,
			char *out, size_t size)
{
	(void)fact;
	if (value)
		return snprintf(out, size, "the PMU %s", s->machine->env->pmus[value - 1].name);
	return snprintf(out, size, "the PMU of type %u",
			(unsigned)attr_get(s->machine->type, s->attr, host_order()));
}

/* A processor's own has files of its cpus, or is the one that hardware events go to. */
static bool pmu_is_processors(struct evaluation *s, uint64_t *value)
{
	uint32_t type = (uint32_t)attr_get(s->machine->type, s->attr, host_order());
	const struct pmu *pmu;

	evaluation_pmu(s);
	pmu = s->pmu.device;
	*value = (type < 64 && s->machine->hardware_types >> type & 1) ||
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
	*value = attr_get(s->machine->config, s->attr, host_order());
	return true;
}

static int print_event(const struct fact *fact, const struct evaluation *s, uint64_t value,
		       char *out, size_t size)
{
	const struct machine *machine = s->machine;
	uint32_t type = (uint32_t)attr_get(machine->type, s->attr, host_order());
	const struct abi_value *hw_cache =
		abi_value(abi_family(machine->env->abi, "type"), "hw_cache", NULL);
	const struct abi_family *family = abi_field_set(machine->config, type, machine->env->arch);
	const struct abi_value *name =
		family ? abi_value_of(family, s->pmu.extended_type ? (uint32_t)value : value)
		       : NULL;

	(void)fact;
	if (hw_cache && type == hw_cache->value)
		return print_cache_event(machine->env->abi, (uint32_t)value, out, size);
	return name ? snprintf(out, size, "%s", name->name)
		    : snprintf(out, size, "%#llx", (unsigned long long)value);
}

/* A device's cpumask has one cpu for each package; `cpus` has all that it is of. */
static bool pmu_cpu_is_in_mask(struct evaluation *s, uint64_t *value)
{
	const struct pmu *pmu;
	const char *list;

	evaluation_pmu(s);
	pmu = s->pmu.device;
	list = !pmu ? "" : pmu->cpus[0] ? pmu->cpus : pmu->cpumask;
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
	evaluation_pmu(s);
	*value = s->pmu.device && s->pmu.device->cpumask[0] && !s->pmu.device->cpus[0];
	return true;
}

/* Of software events and the like, those that are not extended registers. */
static bool pmu_regs(struct evaluation *s, uint64_t *value)
{
	const struct learned_item *all = learned_find(s->machine->learned, "kernel.regs");
	const struct learned_item *plain = learned_find(s->machine->learned, "kernel.plain_regs");

	evaluation_pmu(s);
	*value = all ? all->value : 0;
	if (s->pmu.kind && plain && plain->is_known)
		*value &= plain->value;
	return all && all->is_known;
}

static bool pmu_has_config(struct evaluation *s, uint64_t *value)
{
	bool known = evaluation_pmu(s);
	uint64_t config = attr_get(s->machine->config, s->attr, host_order());
	uint64_t configs;

	if (!known || !s->pmu.kind)
		return false;
	configs = s->pmu.kind->configs.bits;
	if (s->pmu.kind->configs.learned) {
		const struct learned_item *item =
			learned_find(s->machine->learned, s->pmu.kind->configs.learned);

		if (!item || !item->is_known)
			return false;
		configs = item->value;
	}
	*value = config < 64 && configs >> config & 1;
	return true;
}

/* The classes of the tracepoint that config is; *known: whether that can be told. */
static unsigned classes(struct evaluation *s, bool *known)
{
	const struct machine *machine = s->machine;
	uint64_t id = attr_get(machine->config, s->attr, host_order());

	unsigned classes = id < machine->tracepoint_limit ? machine->tracepoints[id] : 0;

	/* Of another machine only those are known that it was asked about by name. */
	*known = machine->tracepoints && (machine->is_this || classes);
	return classes;
}

static bool pmu_tracepoint(const struct fact *fact, struct evaluation *s, uint64_t *value)
{
	bool known;

	*value = classes(s, &known) >> fact->index & 1;
	return known;
}

static const void *sought_pmu(struct evaluation *s)
{
	evaluation_pmu(s);
	return s;
}

static const void *known_pmu(struct evaluation *s)
{
	return evaluation_pmu(s) ? s : NULL;
}

static const void *device_of(struct evaluation *s)
{
	evaluation_pmu(s);
	return s->pmu.device;
}

static const void *kind_known(struct evaluation *s)
{
	return evaluation_pmu(s) ? s->pmu.kind : NULL;
}

/* The same; of one that is not modelled nothing is so. */
static const void *any_kind_of(struct evaluation *s)
{
	static const struct pmu_kind none;

	return evaluation_pmu(s) && !s->pmu.kind ? &none : kind_known(s);
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
	 .of = sought_pmu, .datum = DATUM(struct evaluation, pmu.extended_type, ALWAYS_KNOWN)},
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
