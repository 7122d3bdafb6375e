/* SPDX-License-Identifier: MIT */
/*
 * What a check says of a call, as JSON.
 */
#include "model/model.h"

#include <stdlib.h>

json_t *saying_json(const struct model *model, const struct saying *saying, struct situation *s)
{
	json_t *json = json_object();

	sentence_tell(&saying->because, &model->facts, s, json, "because");
	sentence_tell(&saying->instead, &model->facts, s, json, "instead");
	return json;
}

/* The one that was to refuse it, else the first that can be the cause; NULL: none is known. */
static const struct check *cause_of(const struct model *model, struct situation *s, int err)
{
	struct prediction p = model_predict(model, s);
	const struct check *check = p.outcome == REFUSED && p.err == err ? p.check : NULL;

	if (!check)
		model_suspects(model, s, err, &check, 1);
	return check;
}

bool model_tell_cause(const struct model *model, const struct call *call,
		      const struct caller *caller, const struct world *world, json_t *told)
{
	struct situation *s = malloc(sizeof(*s));
	const struct check *check = NULL;

	if (s) {
		situation_begin(s, &model->machine, call, caller, world);
		check = cause_of(model, s, world->told);
	}
	if (check)
		check_tell(model, check, s, told);
	free(s);
	return check != NULL;
}

void check_tell(const struct model *model, const struct check *check, struct situation *s,
		json_t *json)
{
	const struct saying *saying = check_saying(model, check, s);
	json_t *one = saying ? saying_json(model, saying, s) : json_object();

	json_object_set_new(json, "check", json_string(check->id));
	json_object_set(json, "function", json_object_get(check->json, "function"));
	json_object_update(json, one);
	json_decref(one);
	if (!json_object_get(json, "because") && !check->unsaid.count)
		json_object_set(json, "because", json_object_get(check->json, "condition"));
}
