/* SPDX-License-Identifier: MIT */
/*
 * What a check says of a call, as JSON.
 */
#include "model/model.h"

json_t *saying_json(const struct model *model, const struct saying *saying, struct situation *s)
{
	json_t *json = json_object();

	sentence_tell(&saying->because, &model->facts, s, json, "because");
	sentence_tell(&saying->instead, &model->facts, s, json, "instead");
	return json;
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
