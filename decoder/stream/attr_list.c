/* SPDX-License-Identifier: MIT */
/*
 * Attrs in JSON, in the words of a case.
 */
#include "stream/attr_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/json.h"
#include "text/json_text.h"

/* The size of the oldest ABI that has all fields that are not zero: older kernels and perfs take
 * it. */
static unsigned smallest_size(const struct abi *abi, const unsigned char *bytes)
{
	unsigned end = abi->attr_size;
	size_t i = 0;

	while (end && !bytes[end - 1])
		end--;
	while (i + 1 < abi->size_count && abi->sizes[i].size < end)
		i++;
	return abi->sizes[i].size;
}

/* Beside an attr there are its ids, and nothing that could be a misspelt `ids`. */
static int check_keys(const json_t *one, const struct where *w, struct error *e)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)one, key, value) {
		struct where at = where_key(w, key);

		if (strcmp(key, "attr") && strcmp(key, "ids"))
			return error_name(e, &at, key, NULL, "attr or ids");
	}
	return 0;
}

static int read_one(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		    const json_t *one, const struct vars *vars, const struct where *w,
		    struct error *e)
{
	const json_t *attr = json_object_get(one, "attr"), *ids = json_object_get(one, "ids"), *id;
	struct where at_attr = where_key(w, "attr"), at_ids = where_key(w, "ids");
	unsigned char *bytes = list->bytes + list->count * abi->attr_size;
	const struct abi_field *size = abi_field(abi, "size");
	size_t i;
	int err;

	if (attr && check_keys(one, w, e))
		return -EINVAL;
	if (ids && !json_is_array(ids))
		return error_value(e, &at_ids, ids, "a list of ids");
	json_array_foreach(ids, i, id) {
		struct where at = where_index(&at_ids, i);
		struct value value;

		err = value_eval(id, NULL, NULL, &at, &value, e);
		if (err)
			return err;
	}
	list->count++;
	err = attr_from_json(abi, arch, attr ? attr : one, vars, attr ? &at_attr : w, bytes, e);
	if (!err && size && !attr_get(size, bytes, host_order()))
		attr_set(size, bytes, host_order(), smallest_size(abi, bytes));
	return err;
}

int attr_list_read(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		   const char *text, const char *name, const struct vars *vars, struct error *e)
{
	struct source source = {.name = name, .root = "", .text = text, .length = strlen(text)};
	struct where root = where_root(&source);
	json_t *json = source_parse(&source, e);
	size_t i;
	json_t *one;
	int err = 0;

	*list = (struct attr_list){0};
	if (!json)
		return -EINVAL;
	list->json = json_is_array(json) ? json_incref(json) : json_pack("[O]", json);
	if (!list->json)
		err = error_no_memory(e, &root, "memory for the attrs");
	json_decref(json);
	if (err)
		return err;
	if (!json_array_size(list->json))
		return error_value(e, &root, list->json, "an attr");
	list->bytes = calloc(json_array_size(list->json), abi->attr_size);
	if (!list->bytes)
		return -ENOMEM;
	json_array_foreach(list->json, i, one) {
		struct where at = json_is_array(json) ? where_index(&root, i) : root;

		err = read_one(list, abi, arch, one, vars, &at, e);
		if (err)
			break;
	}
	return err;
}

int attr_list_add(const struct attr_list *list, struct events *events, struct error *e)
{
	enum byte_order order = events->order;

	for (size_t i = 0; i < list->count; i++) {
		const json_t *ids = json_object_get(json_array_get(list->json, i), "ids"), *id;
		size_t k;
		int event;

		events->order = host_order();
		event = events_add(events, list->bytes + i * events->abi->attr_size,
				   events->abi->attr_size, e);
		events->order = order;
		if (event < 0)
			return event;
		json_array_foreach(ids, k, id) {
			struct value value;
			int err = value_eval(id, NULL, NULL, NULL, &value, e);

			if (!err)
				err = events_add_id(events, value.bits, event);
			if (err == -E2BIG)
				return error_text(e, NULL, "more", "at most %d ids", IDS_MAX);
			if (err)
				return err;
		}
	}
	return 0;
}

static char *text_of(const struct attr_list *list, size_t i, const struct events *events)
{
	const json_t *ids = json_object_get(json_array_get(list->json, i), "ids");
	json_t *attr =
		attr_to_json(events->abi, events->arch, list->bytes + i * events->abi->attr_size,
			     events->abi->attr_size, host_order());
	json_t *both = attr ? json_pack("{s:o}", "attr", attr) : NULL;
	bool whole = both && (!ids || !json_object_set(both, "ids", (json_t *)ids));
	char *text = whole ? json_text(both, JSON_COMPACT) : NULL;

	json_decref(both);
	return text;
}

int attr_list_put(const struct attr_list *list, const struct events *events, struct out *out)
{
	char *p = out_room(out, 32);

	if (!p)
		return -ENOMEM;
	out->at = put_text(p, "\"attrs\":[");
	for (size_t i = 0; i < list->count; i++) {
		char *text = text_of(list, i, events);

		p = text ? out_room(out, strlen(text) + 8) : NULL;
		if (p)
			out->at = put_text(i ? put_text(p, ",") : p, text);
		free(text);
		if (!p)
			return -ENOMEM;
	}
	p = out_room(out, 16);
	if (!p)
		return -ENOMEM;
	out->at = put_text(p, "]");
	return 0;
}

bool attr_list_flag(const struct attr_list *list, const struct abi *abi, const char *field)
{
	const struct abi_field *found = abi_field(abi, field);

	return list->count && found && attr_get(found, list->bytes, host_order());
}

void attr_list_free(struct attr_list *list)
{
	json_decref(list->json);
	free(list->bytes);
	*list = (struct attr_list){0};
}
