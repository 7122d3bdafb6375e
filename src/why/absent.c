/* SPDX-License-Identifier: MIT */
/*
 * What is said of each is in cases/why.json.
 */
#include "why/absent.h"

#include <errno.h>
#include <stdio.h>

#include "why/why.h"

static const char *const names[] = {
	[ABSENT_PMU] = "pmu", [ABSENT_TRACEPOINT] = "tracepoint", [ABSENT_TRACEFS] = "tracefs"};

int absent_stand_in(struct question *q, const struct kinds *kinds, const json_t *events,
		    struct environment *env)
{
	const struct absence was = q->absence;
	struct error e = {0};
	char event[48];
	json_t *attr;

	if (was.what != ABSENT_PMU || !kinds_is_processor(kinds, was.name))
		return -ENOENT;
	snprintf(event, sizeof(event), "r0%s%s", was.modifiers[0] ? ":" : "", was.modifiers);
	attr = event_attr(event, events, env, &q->absence, &e);
	if (!attr)
		return -ENOMEM;
	q->open = json_pack("{s:o}", "attr", attr);
	q->notes = json_pack("[o]", json_sprintf("There is no PMU %s here. Type raw, config 0 is "
						 "asked about in its place.",
						 was.name));
	return q->open && q->notes ? 0 : -ENOMEM;
}

json_t *absent_answer(const struct absence *absence, const struct knowledge *k,
		      const struct environment *env)
{
	const char *what = names[absence->what];
	bool is_of_host = absence->what == ABSENT_PMU && env->hypervisor[0];
	const char *told = is_of_host ? "pmu_of_host" : what;
	json_t *answer =
		json_pack("{s:b,s:s,s:s}", "opened", false, "absent", what, "name", absence->name);
	json_t *there;

	json_object_update(answer, json_object_get(json_object_get(k->json, "absent"), told));
	if (absence->what != ABSENT_PMU)
		return answer;
	there = json_array();
	for (size_t i = 0; i < env->pmu_count; i++)
		json_array_append_new(there, json_string(env->pmus[i].name));
	json_object_set_new(answer, "there", there);
	return answer;
}
