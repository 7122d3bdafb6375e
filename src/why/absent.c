/* SPDX-License-Identifier: MIT */
/*
 * What is said of each is in cases/why.json.
 */
#include "why/absent.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "why/why.h"

static const char *const kinds_of_absence[] = {
	[ABSENT_PMU] = "pmu", [ABSENT_TRACEPOINT] = "tracepoint", [ABSENT_TRACEFS] = "tracefs"};

int absent_stand_in(struct question *q, const struct machine *machine, const json_t *events)
{
	const struct absence was = q->absence;
	struct error e = {0};
	char event[48];
	json_t *attr;

	if (was.what != ABSENT_PMU || !kinds_is_processor(machine->kinds, was.name) ||
	    !machine->env->pmu_count || machine_processors_pmu(machine))
		return -ENOENT;
	snprintf(event, sizeof(event), "r0%s%s", was.modifiers[0] ? ":" : "", was.modifiers);
	attr = event_attr(event, events, machine->env, &q->absence, &e);
	if (!attr)
		return -ENOMEM;
	q->open = json_pack("{s:o}", "attr", attr);
	q->notes = json_pack("[o]", json_sprintf("There is no PMU %s here. Type raw, config 0 is "
						 "asked about in its place.",
						 was.name));
	return q->open && q->notes ? 0 : -ENOMEM;
}

/* By which sentences of why.json it is told. */
static const char *sentences_of(const struct absence *absence, const struct model *model)
{
	if (absence->what == ABSENT_TRACEFS && geteuid())
		return "tracefs_of_root";
	if (absence->what == ABSENT_PMU && model->machine.env->runner &&
	    !model->machine.env->pmu_count)
		return "sysfs";
	if (absence->what == ABSENT_PMU && kinds_find(&model->kinds, absence->name))
		return "pmu_of_kernel";
	if (absence->what == ABSENT_PMU && model->machine.env->hypervisor[0])
		return "pmu_of_host";
	return kinds_of_absence[absence->what];
}

json_t *absent_answer(const struct absence *absence, const struct knowledge *k,
		      const struct model *model)
{
	const struct environment *env = model->machine.env;
	json_t *answer = json_pack("{s:b,s:s,s:s}", "opened", false, "absent",
				   kinds_of_absence[absence->what], "name", absence->name);
	json_t *there;

	json_object_update(answer, json_object_get(k->absent, sentences_of(absence, model)));
	if (absence->what != ABSENT_PMU)
		return answer;
	there = json_array();
	for (size_t i = 0; i < env->pmu_count; i++)
		json_array_append_new(there, json_string(env->pmus[i].name));
	json_object_set_new(answer, "there", there);
	return answer;
}
