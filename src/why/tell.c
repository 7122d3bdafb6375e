/* SPDX-License-Identifier: MIT */
/*
 * What a call came to, by which check, and why.
 */
#include <stdlib.h>

#include "machine/names.h"
#include "why/asking.h"

enum { SUSPECTS = 8, SUSPECTS_OF_ERRNO = 5 };

/* Of a check's causes the one that holds; before it those that may. */
static void tell_causes(json_t *json, const struct check *check, struct asking *a)
{
	enum truth truth = DOES_NOT_HOLD;
	json_t *others = json_array();
	bool any = false;

	for (size_t i = 0; i < check->saying_count && truth != HOLDS; i++) {
		const struct saying *saying = &check->says[i];
		const struct fact *why;
		json_t *one;

		truth = saying->when ? predicate_holds(saying->when, &a->inquiry->model->facts,
						       &a->asker.situation, &why)
				     : HOLDS;
		if (truth == DOES_NOT_HOLD)
			continue;
		one = saying_json(a->inquiry->model, saying, &a->asker.situation);
		if (any)
			json_array_append(others, one);
		else
			json_object_update(json, one);
		any = true;
		json_decref(one);
	}
	if (json_array_size(others))
		json_object_set(json, "or", others);
	json_decref(others);
}

/* What a check is that can be the cause, and says of the call whose situation the asker has. */
static void tell_suspect(json_t *json, const struct check *check, struct asking *a)
{
	json_object_set_new(json, "check", json_string(check->id));
	json_object_set(json, "function", json_object_get(check->json, "function"));
	tell_causes(json, check, a);
	if (!json_object_get(json, "because") && !check->unsaid.count)
		json_object_set(json, "because", json_object_get(check->json, "condition"));
}

/* What can be the cause where the model cannot tell: of checks whose ids begin with `family`. */
void tell_suspects(json_t *json, int err, char family, struct asking *a)
{
	const struct model *model = a->inquiry->model;
	const struct check **suspects = calloc(model->suspect_count + 1, sizeof(struct check *));
	json_t *list = json_array();
	size_t n = 0;

	if (suspects)
		n = model_suspects(model, &a->asker.situation, err, suspects, model->suspect_count);
	for (size_t i = 0; i < n && json_array_size(list) < (err ? SUSPECTS_OF_ERRNO : SUSPECTS);
	     i++) {
		json_t *one = suspects[i]->id[0] == family ? json_object() : NULL;

		if (!one)
			continue;
		tell_suspect(one, suspects[i], a);
		json_array_append_new(list, one);
	}
	if (json_array_size(list))
		json_object_set(json, "suspects", list);
	json_decref(list);
	free(suspects);
}

void tell_unknown(json_t *json, const char *key, const struct finding *f, struct asking *a)
{
	if (f->check && f->check->unsaid.count)
		sentence_tell(&f->check->unsaid, &a->inquiry->model->facts, &a->asker.situation,
			      json, key);
	else if (f->unknown && f->unknown->unknown)
		json_object_set_new(json, key, json_string(f->unknown->unknown));
}

int told_errno(const struct inquiry *inquiry)
{
	return inquiry->told ? errno_by_name(inquiry->told, NULL) : 0;
}

bool was_told_ok(const struct inquiry *inquiry)
{
	return inquiry->told_behind || (inquiry->told && !told_errno(inquiry));
}

/* What it came to; `err` is what it gave, here or elsewhere. */
static void tell_outcome(json_t *json, const struct finding *f, int err, struct asking *a)
{
	if (f->outcome != UNFORESEEN)
		json_object_set_new(json, "opened", json_boolean(f->outcome == OPENS));
	if (f->outcome == REFUSED)
		json_object_set_new(json, "errno", json_string(errno_name(f->err)));
	if (f->outcome == REFUSED && f->is_foreseen && f->check) {
		check_tell(a->inquiry->model, f->check, &a->asker.situation, json);
		return;
	}
	if (f->differs)
		json_object_set_new(json, "foretold",
				    json_string(f->foretold ? errno_name(f->foretold) : "ok"));
	if (f->outcome == OPENS || (f->outcome == UNFORESEEN && was_told_ok(a->inquiry)))
		return;
	tell_unknown(json, "unknown", f, a);
	tell_suspects(json, err, 'O', a);
}

/* The finding as members of `json`, for the call whose situation the asker has. */
void tell_finding(json_t *json, const struct finding *f, struct asking *a)
{
	int told = a->asker.world.told;

	a->asker.world.told = f->outcome == REFUSED ? f->err : told_errno(a->inquiry);
	tell_outcome(json, f, a->asker.world.told, a);
	a->asker.world.told = told;
}
