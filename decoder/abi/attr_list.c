/* SPDX-License-Identifier: MIT */
/*
 * Attrs in JSON, in the words of a case -> their bytes.
 */
#include "abi/attr_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/source.h"

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
static int check_attr_or_ids(const json_t *one, const struct where *w, struct error *e)
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

static int read_ids(struct attr_ids *out, const json_t *ids, const struct where *w, struct error *e)
{
	const json_t *id;
	size_t i;

	if (ids && !json_is_array(ids))
		return error_value(e, w, ids, "a list of ids");
	if (!json_array_size(ids))
		return 0;
	out->ids = calloc(json_array_size(ids), sizeof(*out->ids));
	if (!out->ids)
		return error_no_memory(e, w, "memory for the ids of an attr");
	json_array_foreach(ids, i, id) {
		struct where at = where_index(w, i);
		struct value value;
		int err = value_eval(id, NULL, NULL, &at, &value, e);

		if (err)
			return err;
		out->ids[out->count++] = value.bits;
	}
	return 0;
}

static int read_one(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		    const json_t *one, const struct vars *vars, const struct where *w,
		    struct error *e)
{
	const json_t *attr = json_object_get(one, "attr");
	struct where at_attr = where_key(w, "attr"), at_ids = where_key(w, "ids");
	unsigned char *bytes = list->bytes + list->count * abi->attr_size;
	const struct abi_field *size = abi_field(abi, "size");
	int err = attr ? check_attr_or_ids(one, w, e) : 0;

	if (!err)
		err = read_ids(&list->ids[list->count++], json_object_get(one, "ids"), &at_ids, e);
	if (!err)
		err = attr_from_json(abi, arch, attr ? attr : one, vars, attr ? &at_attr : w, bytes,
				     e);
	if (!err && size && !attr_get(size, bytes, host_order()))
		attr_set(size, bytes, host_order(), smallest_size(abi, bytes));
	return err;
}

static int read_all(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		    const json_t *json, const struct vars *vars, const struct where *root,
		    struct error *e)
{
	size_t i, count = json_is_array(json) ? json_array_size(json) : 1;
	const json_t *one;
	int err;

	if (!count)
		return error_value(e, root, json, "an attr");
	list->bytes = calloc(count, abi->attr_size);
	list->ids = calloc(count, sizeof(*list->ids));
	if (!list->bytes || !list->ids)
		return error_no_memory(e, root, "memory for the attrs");
	if (!json_is_array(json))
		return read_one(list, abi, arch, json, vars, root, e);
	json_array_foreach(json, i, one) {
		struct where at = where_index(root, i);

		err = read_one(list, abi, arch, one, vars, &at, e);
		if (err)
			return err;
	}
	return 0;
}

int attr_list_read(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		   const char *text, const char *name, const struct vars *vars, struct error *e)
{
	struct source source = {.name = name, .root = "", .text = text, .length = strlen(text)};
	struct where root = where_root(&source);
	json_t *json = source_parse(&source, e);
	int err;

	*list = (struct attr_list){0};
	if (!json)
		return -EINVAL;
	err = read_all(list, abi, arch, json, vars, &root, e);
	json_decref(json);
	return err;
}

bool attr_list_flag(const struct attr_list *list, const struct abi *abi, const char *field)
{
	const struct abi_field *found = abi_field(abi, field);

	return list->count && found && attr_get(found, list->bytes, host_order());
}

void attr_list_free(struct attr_list *list)
{
	for (size_t i = 0; list->ids && i < list->count; i++)
		free(list->ids[i].ids);
	free(list->ids);
	free(list->bytes);
	*list = (struct attr_list){0};
}
