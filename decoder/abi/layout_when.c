/* SPDX-License-Identifier: MIT */
/*
 * Fields that are there or not, and lists of fields that stand elsewhere.
 */
#include "abi/layout_read.h"

#include <errno.h>
#include <string.h>

static int if_attr(struct layout_reader *r, struct layout_condition *out, const char *key,
		   const json_t *value, const struct where *w)
{
	bool is_flag = !strcmp(key, "attr");
	const char *text = json_string_value(value);
	const struct abi_field *field = abi_field(r->abi, is_flag && text ? text : key);
	const struct abi_value *bit = NULL;
	struct nearest near = nearest_to(text ? text : "");

	if (!field)
		return error_name(r->e, w, text ? text : key, NULL, "a field of attr");
	if (!is_flag && field->set && text)
		bit = abi_value(field->set, text, &near);
	if (!is_flag && !bit)
		return error_name(r->e, w, text ? text : "", near.best, "a flag of %s", key);
	out->test = is_flag ? LAYOUT_IF_ATTR : LAYOUT_IF_ATTR_HAS;
	out->attr = field;
	out->value = is_flag ? 0 : bit->value;
	return 0;
}

static int if_misc(struct layout_reader *r, struct layout_condition *out, const json_t *value,
		   const struct where *w)
{
	const struct abi_family *misc = abi_family(r->abi, "misc");
	const char *text = json_string_value(value);
	struct nearest near = nearest_to(text ? text : "");
	const struct abi_value *bit = text ? abi_value(misc, text, &near) : NULL;

	if (!bit)
		return error_name(r->e, w, text ? text : "", near.best, "a bit of misc");
	out->test = LAYOUT_IF_MISC;
	out->value = bit->value;
	return 0;
}

static int if_field(struct layout_reader *r, struct layout_condition *out, const json_t *when,
		    const struct where *w)
{
	static const char *const keys[] = {"field", "is", "not", "at_least", NULL};
	static const struct {
		const char *key;
		enum layout_test test;
	} comparisons[] = {
		{"is", LAYOUT_IF_IS}, {"not", LAYOUT_IF_NOT}, {"at_least", LAYOUT_IF_AT_LEAST}};
	int err = layout_unknown_keys(r, when, keys, w);

	if (!err)
		err = layout_field_named(r, json_object_get(when, "field"), &out->field, w);
	for (size_t i = 0; !err && i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		const json_t *value = json_object_get(when, comparisons[i].key);

		if (!json_is_integer(value) || json_object_size(when) != 2)
			continue;
		out->test = comparisons[i].test;
		out->value = (uint64_t)json_integer_value(value);
		return 0;
	}
	return err ? err : error_value(r->e, w, when, "a field and is, not or at_least a number");
}

static int if_left(struct layout_reader *r, struct layout_condition *out, const json_t *when,
		   const struct where *w)
{
	uint32_t bytes = 0;
	int err = layout_small_number(r, when, "left", &bytes, w);

	out->test = LAYOUT_IF_LEFT;
	out->value = bytes;
	return err;
}

static int read_condition(struct layout_reader *r, struct layout_condition *out, const json_t *when,
			  const struct where *w)
{
	void *first = json_object_iter((json_t *)when);
	const char *key = first ? json_object_iter_key(first) : NULL;
	const json_t *value = first ? json_object_iter_value(first) : NULL;
	struct where at = where_key(w, key ? key : "");

	if (!json_is_object(when) || !key)
		return error_value(r->e, w, when, "a condition");
	if (json_object_get(when, "field"))
		return if_field(r, out, when, w);
	if (json_object_size(when) != 1)
		return error_value(r->e, w, when, "one condition");
	if (!strcmp(key, "misc"))
		return if_misc(r, out, value, &at);
	if (!strcmp(key, "left"))
		return if_left(r, out, when, w);
	if (strcmp(key, "maybe") != 0)
		return if_attr(r, out, key, value, &at);
	out->test = LAYOUT_IF_MAYBE;
	return json_is_true(value) ? 0 : error_value(r->e, &at, value, "true");
}

int layout_read_when(struct layout_reader *r, struct layout_node *node, const json_t *item,
		     const struct where *w)
{
	static const char *const known[] = {"when", "then", "else", NULL};
	const json_t *then = json_object_get(item, "then"), *other = json_object_get(item, "else");
	struct where at_when = where_key(w, "when"), at_then = where_key(w, "then");
	struct where at_else = where_key(w, "else");
	int err = layout_unknown_keys(r, item, known, w);

	node->kind = LAYOUT_WHEN;
	if (!err && !json_is_array(then))
		err = error_value(r->e, &at_then, then, "a list of fields");
	if (!err)
		err = read_condition(r, &node->when.condition, json_object_get(item, "when"),
				     &at_when);
	if (!err)
		err = layout_read_branch(r, &node->when.then, then, &at_then);
	return err || !other ? err : layout_read_branch(r, &node->when.other, other, &at_else);
}

/* Its members become the record's own: one of them may have a name that the record's line has. */
struct own {
	struct layout_reader *r;
	const struct where *w;
};

static void check_own(void *context, const struct layout_member *member)
{
	struct own *own = context;

	layout_check_name(own->r, member->name, own->w);
}

int layout_read_use(struct layout_reader *r, struct layout_node *node, const json_t *item,
		    const struct where *w)
{
	static const char *const known[] = {"use", "name", NULL};
	const char *name = json_string_value(json_object_get(item, "use"));
	struct layout *used = name ? (struct layout *)abi_layout(r->abi, name) : NULL;
	struct nearest near = nearest_to(name ? name : "");
	struct where at = where_key(w, "use");
	struct own own = {r, &at};
	int err = layout_unknown_keys(r, item, known, w);

	node->kind = LAYOUT_USE;
	node->use = used;
	if (err)
		return err;
	for (size_t i = 0; !used && i < r->abi->layout_count; i++)
		nearest_try(&near, r->abi->layouts[i].name);
	if (!used)
		return error_name(r->e, &at, name ? name : "", near.best, "a name in layouts");
	err = layout_read(r, used, &at, item);
	if (err)
		return err;
	if (!node->name)
		layout_members(used, check_own, &own);
	return error_is_set(r->e) ? -EINVAL : 0;
}

/* {"switch": "feat_id", "over": "feature"}: the fields of the family's value that the field is. */
int layout_read_switch(struct layout_reader *r, struct layout_node *node, const json_t *item,
		       const struct where *w)
{
	static const char *const known[] = {"switch", "over", NULL};
	const struct abi_family *over = layout_family(r, item, "over", w);
	struct where at_switch = where_key(w, "switch"), at_over = where_key(w, "over");
	struct own own = {r, &at_over};
	int err = layout_unknown_keys(r, item, known, w);

	node->kind = LAYOUT_SWITCH;
	node->choice.over = over;
	if (!err && !over)
		err = -EINVAL;
	if (!err)
		err = layout_field_named(r, json_object_get(item, "switch"), &node->choice.field,
					 &at_switch);
	for (size_t i = 0; !err && i < over->count; i++) {
		struct layout *layout = (struct layout *)over->values[i].layout;

		if (!layout)
			continue;
		err = layout_read(r, layout, &at_over, item);
		if (!err)
			layout_members(layout, check_own, &own);
		if (error_is_set(r->e))
			err = -EINVAL;
	}
	return err;
}
