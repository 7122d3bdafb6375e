/* SPDX-License-Identifier: MIT */
/*
 * What there is to say of a call that opens, proven by counting where that can be.
 */
#include <string.h>

#include "why/asking.h"
#include "why/count.h"

enum { SENTENCE = 1024 };

/* Holds a remark's condition; *proven: by what is known, and not only for all that is. */
static bool remark_holds(const struct remark *remark, struct asking *a, bool *proven)
{
	const struct fact *why = NULL;
	enum truth truth =
		predicate_holds(remark->when, &a->inquiry->model->facts, &a->asker.situation, &why);

	*proven = truth == HOLDS;
	return truth == HOLDS || (truth == NOT_KNOWN && !remark->is_measured && why &&
				  !strncmp(why->name, "counted.", 8));
}

/* What there is to say of the call whose situation the asker has: {"says", "proven", "useless"}. */
json_t *remarks_of(const struct remarks *remarks, struct asking *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < remarks->count; i++) {
		char text[SENTENCE];
		json_t *one;
		bool proven;

		if (!remark_holds(&remarks->list[i], a, &proven))
			continue;
		one = json_pack("{s:b}", "proven", proven);
		sentence_write(&remarks->list[i].says, &a->inquiry->model->facts,
			       &a->asker.situation, text, sizeof(text));
		json_object_set_new(one, "says", json_string(text));
		if (remarks->list[i].check)
			json_object_set_new(one, "check", json_string(remarks->list[i].check));
		if (remarks->list[i].is_useless)
			json_object_set_new(one, "useless", json_true());
		json_array_append_new(list, one);
	}
	return list;
}

void count_call(struct asking *a, const struct call *call)
{
	const struct model *model = a->inquiry->model;

	a->asker.world.counted = NULL;
	if (a->asker.attempts && count_event(call, model->machine.env, &a->counted))
		a->asker.world.counted = &a->counted;
	situation_begin(&a->asker.situation, &model->machine, call, &a->asker.caller,
			&a->asker.world);
}

void tell_counted(struct asking *a)
{
	const struct counted *c = a->asker.world.counted;
	json_t *json;

	if (!c)
		return;
	json = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "value", (json_int_t)c->value, "time_enabled",
			 (json_int_t)c->enabled, "time_running", (json_int_t)c->running, "switches",
			 (json_int_t)c->switches, "page_faults", (json_int_t)c->faults,
			 "system_calls", (json_int_t)c->syscalls);
	if (c->has_samples) {
		json_object_set_new(json, "samples", json_integer((json_int_t)c->samples));
		json_object_set_new(json, "throttled", json_integer((json_int_t)c->throttled));
	}
	json_object_set_new(a->answer, "counted", json);
}
