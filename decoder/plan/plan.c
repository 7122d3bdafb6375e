/* SPDX-License-Identifier: MIT */
/*
 * Layouts -> plans. One function a kind of field; the shape of what may stand in a layout is in
 * cases/README.md and cases/schema/abi.schema.json.
 */
#include "plan/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "text/json.h"

static int compile_index(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"name", "index", NULL};
	const struct abi_family *set = plan_family_named(c, item, "index", w);
	struct op *op;

	if (!set || plan_unknown_keys(c, item, known, w))
		return -EINVAL;
	if (!c->in_loop)
		return error_value(c->e, w, item, "an array around an index");
	op = plan_add(c, OP_INDEX, w);
	if (!op)
		return -ENOMEM;
	op->set = set;
	plan_grows(c, plan_longest_of(set));
	return plan_set_key(c, c->plan->count - 1, plan_name_of(item), "", w);
}

static int compile_typed(struct compiler *c, const json_t *item, const struct where *w)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} texts[] = {{"string", OP_STRING},
		     {"bytes", OP_BYTES},
		     {"opaque", OP_OPAQUE},
		     {"attr", OP_ATTR}};
	const char *name = json_string_value(json_object_get(item, "type"));
	struct nearest near = nearest_to(name ? name : "");
	struct where at = where_key(w, "type");
	int type = plan_type_named(name);

	if (type >= 0 && json_object_get(item, "bitfield"))
		return compile_bitfield(c, item, type, w);
	if (type >= 0)
		return compile_scalar(c, item, type, w);
	for (size_t i = 0; name && i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!strcmp(texts[i].name, name))
			return compile_text(c, item, texts[i].kind, w);
		nearest_try(&near, texts[i].name);
	}
	for (size_t i = 0; i < PLAN_TYPES; i++)
		nearest_try(&near, plan_types[i].name);
	if (name)
		return error_name(c->e, &at, name, near.best, "a type");
	return error_value(c->e, w, item,
			   "a field: type, pad, align, count, fields, regs, use or when");
}

static int compile_item(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"name", "fields", NULL};
	static const struct {
		const char *key;
		int (*compile)(struct compiler *, const json_t *, const struct where *);
	} kinds[] = {{"when", compile_when},     {"pad", compile_zeros},   {"align", compile_zeros},
		     {"use", compile_use},       {"count", compile_count}, {"regs", compile_regs},
		     {"switch", compile_switch}, {"index", compile_index}};
	const json_t *fields = json_object_get(item, "fields");
	struct where at_fields = where_key(w, "fields");

	if (!json_is_object(item))
		return error_value(c->e, w, item, "a field");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (json_object_get(item, kinds[i].key))
			return kinds[i].compile(c, item, w);
	if (!fields)
		return compile_typed(c, item, w);
	if (!plan_name_of(item) || plan_unknown_keys(c, item, known, w))
		return error_value(c->e, w, item, "an object with a name and fields");
	return compile_object(c, plan_name_of(item), fields, &at_fields);
}

static bool is_wanted(const struct compiler *c, const char *name)
{
	if (!c->with->fields || !name || !c->outside || !c->record)
		return true;
	for (size_t i = 0; i < c->with->field_count; i++)
		if (!strcmp(c->with->fields[i], name))
			return true;
	return false;
}

/* A plain number that nobody asked for is stepped over; anything else is read and not written. */
static void hide(struct compiler *c, size_t first)
{
	for (size_t i = first; i < c->plan->count; i++) {
		struct op *op = &c->plan->ops[i];

		if (op->kind < OP_U8 || op->kind > OP_SET)
			continue;
		op->n = op->width;
		op->kind = OP_SKIP;
	}
}

int compile_list(struct compiler *c, const json_t *list, const struct where *w)
{
	const json_t *item;
	size_t i;
	int err = 0;

	if (!json_is_array(list))
		return error_value(c->e, w, list, "a list of fields");
	if (++c->depth > DEPTH_MAX)
		return error_value(c->e, w, list, "fields no more than %d deep", DEPTH_MAX);
	json_array_foreach(list, i, item) {
		struct where at = where_index(w, i);
		size_t first = c->plan->count;
		const char *name = plan_name_of(item);
		bool named = c->outside && name, wanted = is_wanted(c, name);
		bool plain =
			plan_type_named(json_string_value(json_object_get(item, "type"))) >= 0 &&
			!json_object_get(item, "bitfield");

		if (named && c->with->offer)
			c->with->offer(c->with->context, name);
		if (!wanted && !plain && !plan_add(c, OP_HIDE, &at))
			return -ENOMEM;
		err = compile_item(c, item, &at);
		if (!err && !wanted && plain)
			hide(c, first);
		if (!err && !wanted && !plain && !plan_add(c, OP_SHOW, &at))
			err = -ENOMEM;
		if (err)
			break;
	}
	c->depth--;
	return err;
}

static uint64_t misc_of(const struct abi *abi, const char *record)
{
	const struct abi_family *misc = abi_family(abi, "misc");
	uint64_t known = 0;

	for (size_t i = 0; misc && i < misc->count; i++) {
		const json_t *records = json_object_get(misc->values[i].json, "records"), *name;
		size_t k;

		if (!records)
			known |= misc->values[i].value;
		json_array_foreach(records, k, name)
			if (!strcmp(json_string_value(name), record))
				known |= misc->values[i].value;
	}
	return known;
}

static int finish(struct compiler *c, const struct where *w)
{
	return plan_add(c, OP_END, w) ? 0 : -ENOMEM;
}

static int make(struct plan *plan, struct compiler *c, const json_t *fields, const struct where *w)
{
	int err = compile_list(c, fields, w);

	if (!err)
		err = finish(c, w);
	if (err)
		plan_free(plan);
	return err;
}

int plan_make_layout(struct plan *plan, const struct plan_for *with, const char *name,
		     struct error *e)
{
	const struct abi_layout *layout = abi_layout(with->abi, name);
	struct compiler c = {.with = with, .plan = plan, .e = e, .regs = REG_KEPT + 1};
	struct where root, layouts, at;

	*plan = (struct plan){.name = name};
	if (!layout)
		return error_name(e, NULL, name, NULL, "a layout of that name in cases/abi");
	root = where_root(layout->source);
	layouts = where_key(&root, "layouts");
	at = where_key(&layouts, name);
	return make(plan, &c, layout->fields, &at);
}

int plan_make(struct plan *plan, const struct plan_for *with, const struct abi_family *family,
	      const struct abi_value *value, struct error *e)
{
	struct where root = where_root(family->source);
	struct where constants = where_key(&root, "constants"),
		     in = where_key(&constants, family->name);
	struct where values = where_key(&in, "values");
	struct where one = where_index(&values, (size_t)(value - family->values));
	struct where at = where_key(&one, "fields");
	bool is_record = strstr(family->name, "record") != NULL;
	struct compiler c = {.with = with,
			     .plan = plan,
			     .e = e,
			     .record = is_record ? value->name : NULL,
			     .offset = is_record ? HEADER : 0,
			     .outside = true,
			     .regs = REG_KEPT + 1};
	*plan = (struct plan){.name = value->name, .lenient = strcmp(family->name, "record") != 0};
	if (is_record)
		plan->misc_known = misc_of(with->abi, value->name);
	return make(plan, &c, json_object_get(value->json, "fields"), &at);
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->text_count; i++)
		free(plan->texts[i]);
	free(plan->texts);
	free(plan->ops);
	*plan = (struct plan){0};
}

size_t plan_fixed_size(const struct plan *plan)
{
	size_t size = 0;

	for (size_t i = 0; i < plan->count; i++)
		if (plan->ops[i].kind == OP_NEED)
			size += plan->ops[i].n;
	return size;
}

int plan_offset(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->ops[i].path && !strcmp(plan->ops[i].path, path) &&
		    plan->ops[i].kind >= OP_U8 && plan->ops[i].kind <= OP_SKIP)
			return plan->ops[i].offset;
	return -1;
}
