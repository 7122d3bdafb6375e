/* SPDX-License-Identifier: MIT */
/*
 * Fields that are there or not, and lists of fields that stand elsewhere.
 */
#include "plan/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "text/json.h"

/*
 * What a condition comes to: LATER is an operation, the last one, whose jump is to be aimed behind
 * `then`; BOTH is for a plan of any attr, which is made to check the layout alone.
 */
enum { ALWAYS, NEVER, LATER, BOTH };

static int condition_of_attr(struct compiler *c, const char *key, const json_t *value,
			     const struct where *w)
{
	const struct plan_for *with = c->with;
	bool is_flag = !strcmp(key, "attr");
	const char *text = json_string_value(value);
	const struct abi_field *field = abi_field(with->abi, is_flag && text ? text : key);
	const struct abi_value *bit = NULL;
	struct nearest near = nearest_to(text ? text : "");
	uint64_t now;

	if (!field)
		return error_name(c->e, w, text ? text : key, NULL, "a field of attr");
	if (!is_flag && field->set && text)
		bit = abi_value(field->set, text, &near);
	if (!is_flag && !bit)
		return error_name(c->e, w, text ? text : "", near.best, "a flag of %s", key);
	if (with->uses)
		with->uses(with->context, field);
	if (!with->attr)
		return BOTH;
	now = attr_get(field, with->attr, host_order());
	if (is_flag)
		return now ? ALWAYS : NEVER;
	return (now & bit->value) == bit->value ? ALWAYS : NEVER;
}

static int condition_of_misc(struct compiler *c, const json_t *value, const struct where *w)
{
	const struct abi_family *misc = abi_family(c->with->abi, "misc");
	const char *text = json_string_value(value);
	struct nearest near = nearest_to(text ? text : "");
	const struct abi_value *bit = misc && text ? abi_value(misc, text, &near) : NULL;
	struct op *op;

	if (!bit)
		return error_name(c->e, w, text ? text : "", near.best, "a bit of misc");
	op = plan_add(c, OP_UNLESS_MISC, w);
	if (!op)
		return -ENOMEM;
	op->value = bit->value;
	return LATER;
}

static int condition_of_field(struct compiler *c, const json_t *when, const struct where *w)
{
	static const struct {
		const char *key;
		uint8_t kind;
	} comparisons[] = {
		{"is", OP_UNLESS_IS}, {"not", OP_UNLESS_NOT}, {"at_least", OP_UNLESS_AT_LEAST}};
	uint8_t reg;
	int err = plan_reg_of(c, json_object_get(when, "field"), &reg, w);

	for (size_t i = 0; !err && i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		const json_t *value = json_object_get(when, comparisons[i].key);
		struct op *op;

		if (!json_is_integer(value))
			continue;
		op = plan_add(c, comparisons[i].kind, w);
		if (!op)
			return -ENOMEM;
		op->reg = reg;
		op->value = (uint64_t)json_integer_value(value);
		return LATER;
	}
	return err ? err : error_value(c->e, w, when, "a field and is, not or at_least a number");
}

static int compile_condition(struct compiler *c, const json_t *when, const struct where *w)
{
	void *first = json_object_iter((json_t *)when);
	const char *key = first ? json_object_iter_key(first) : NULL;
	const json_t *value = first ? json_object_iter_value(first) : NULL;
	struct where at = where_key(w, key ? key : "");
	struct op *op;

	if (!json_is_object(when) || !key)
		return error_value(c->e, w, when, "a condition");
	if (json_object_get(when, "field"))
		return condition_of_field(c, when, w);
	if (json_object_size(when) != 1)
		return error_value(c->e, w, when, "one condition");
	if (!strcmp(key, "misc"))
		return condition_of_misc(c, value, &at);
	if (strcmp(key, "left") && strcmp(key, "maybe"))
		return condition_of_attr(c, key, value, &at);
	op = plan_add(c, key[0] == 'l' ? OP_UNLESS_LEFT : OP_UNLESS_MAYBE, w);
	if (!op)
		return -ENOMEM;
	return plan_small_number(c, json_is_integer(value) ? when : NULL, key, &op->n, w) ? -EINVAL
											  : LATER;
}

static int compile_branch(struct compiler *c, const json_t *list, const struct where *w)
{
	int err;

	plan_forget_need(c);
	err = list ? compile_list(c, list, w) : 0;
	plan_forget_need(c);
	return err;
}

int compile_when(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"when", "then", "else", NULL};
	const json_t *then = json_object_get(item, "then"), *other = json_object_get(item, "else");
	struct where at_when = where_key(w, "when"), at_then = where_key(w, "then");
	struct where at_else = where_key(w, "else");
	size_t test, over, smallest = c->smallest;
	int offset, decided;
	struct op *op;
	int err = plan_unknown_keys(c, item, known, w);

	if (!err && !json_is_array(then))
		err = error_value(c->e, &at_then, then, "a list of fields");
	if (err)
		return err;
	decided = compile_condition(c, json_object_get(item, "when"), &at_when);
	if (decided < 0)
		return decided;
	if (decided == ALWAYS)
		return compile_list(c, then, &at_then);
	if (decided == NEVER)
		return other ? compile_list(c, other, &at_else) : 0;
	if (decided == BOTH) {
		err = compile_branch(c, then, &at_then);
		return err ? err : compile_branch(c, other, &at_else);
	}
	test = c->plan->count - 1;
	offset = c->offset;
	err = compile_branch(c, then, &at_then);
	if (err)
		return err;
	if (other) {
		int after = c->offset;

		op = plan_add(c, OP_JUMP, w);
		if (!op)
			return -ENOMEM;
		over = c->plan->count - 1;
		c->plan->ops[test].jump = (uint32_t)c->plan->count;
		c->offset = offset;
		err = compile_branch(c, other, &at_else);
		c->plan->ops[over].jump = (uint32_t)c->plan->count;
		c->offset = c->offset == after ? after : -1;
	} else {
		c->plan->ops[test].jump = (uint32_t)c->plan->count;
		c->offset = c->offset == offset ? offset : -1;
	}
	c->smallest = smallest; /* an element may do without */
	return err;
}

int compile_use(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"use", "name", NULL};
	const char *name = json_string_value(json_object_get(item, "use"));
	const struct abi_layout *layout = name ? abi_layout(c->with->abi, name) : NULL;
	struct nearest near = nearest_to(name ? name : "");
	struct where at = where_key(w, "use"), root, layouts;
	int err = plan_unknown_keys(c, item, known, w);

	if (err)
		return err;
	for (size_t i = 0; !layout && i < c->with->abi->layout_count; i++)
		nearest_try(&near, c->with->abi->layouts[i].name);
	if (!layout)
		return error_name(c->e, &at, name ? name : "", near.best, "a name in layouts");
	root = where_root(layout->source);
	layouts = where_key(&root, "layouts");
	at = where_key(&layouts, name);
	if (!strcmp(name, "sample_id"))
		c->plan->trailer = true;
	if (plan_name_of(item))
		return compile_object(c, plan_name_of(item), layout->fields, &at);
	return compile_list(c, layout->fields, &at);
}

/* {"switch": "feat_id", "over": "feature"}: the fields of the family's value that the field is. */
int compile_switch(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"switch", "over", NULL};
	const struct abi_family *over = plan_family_named(c, item, "over", w);
	struct where at_switch = where_key(w, "switch");
	uint8_t reg;
	int err = plan_unknown_keys(c, item, known, w);

	if (!err && !over)
		err = -EINVAL;
	if (!err)
		err = plan_reg_of(c, json_object_get(item, "switch"), &reg, &at_switch);
	for (size_t i = 0; !err && i < over->count; i++) {
		const json_t *fields = json_object_get(over->values[i].json, "fields");
		struct where root = where_root(over->source);
		struct where constants = where_key(&root, "constants");
		struct where family = where_key(&constants, over->name);
		struct where values = where_key(&family, "values");
		struct where value = where_index(&values, i), at = where_key(&value, "fields");
		struct op *op;
		size_t test;

		if (!fields)
			continue;
		op = plan_add(c, OP_UNLESS_IS, w);
		if (!op)
			return -ENOMEM;
		op->reg = reg;
		op->value = over->values[i].value;
		test = c->plan->count - 1;
		c->offset = -1;
		err = compile_branch(c, fields, &at);
		c->plan->ops[test].jump = (uint32_t)c->plan->count;
	}
	return err;
}
