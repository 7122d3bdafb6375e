/* SPDX-License-Identifier: MIT */
/*
 * Numbers, zeros, text and arrays.
 */
#include "plan/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "text/json.h"

static const char *opening_of(uint8_t kind)
{
	return kind == OP_X16 || kind == OP_X32 || kind == OP_X64 ? "\"0x" : "";
}

/* The number has no bits but those that `set` names: with others the record is of another shape. */
static int compile_possible(struct compiler *c, const json_t *item, size_t at,
			    const struct abi_family *set, const struct where *w)
{
	struct op *op;
	uint8_t reg;

	if (!json_is_true(json_object_get(item, "possible")))
		return 0;
	if (!set)
		return error_value(c->e, w, item, "a set beside `possible`");
	if (plan_reg_of(c, json_object_get(item, "name"), &reg, w))
		return -EINVAL;
	op = plan_add(c, OP_POSSIBLE, w);
	if (!op)
		return -ENOMEM;
	op->reg = reg;
	for (size_t i = 0; i < set->count; i++)
		op->value |= set->values[i].value;
	op->key = c->plan->ops[at].key;
	return 0;
}

int compile_scalar(struct compiler *c, const json_t *item, int type, const struct where *w)
{
	static const char *const known[] = {"name",   "type",     "set", "keep",
					    "counts", "possible", NULL};
	const char *counts = json_string_value(json_object_get(item, "counts"));
	const struct abi_family *set = NULL;
	const char *name = plan_name_of(item);
	size_t at;
	struct op *op;
	int err = plan_unknown_keys(c, item, known, w);

	if (err)
		return err;
	if (json_object_get(item, "set")) {
		set = plan_family_named(c, item, "set", w);
		if (!set)
			return -EINVAL;
	}
	if (plan_need(c, plan_types[type].width, w))
		return -ENOMEM;
	op = plan_add(c, set ? OP_SET : plan_kind_of(c, type), w);
	if (!op)
		return -ENOMEM;
	if (op->offset >= 0)
		op->offset -= plan_types[type].width;
	op->width = plan_types[type].width;
	op->set = set;
	op->integers = c->with->integers;
	if (json_is_true(json_object_get(item, "keep"))) {
		op->reg = REG_KEPT;
		c->plan->keeps = true;
	}
	if (counts && op->offset > 0 && op->width == 8) {
		c->plan->lost_offset = op->offset;
		c->plan->lost_samples = !strcmp(counts, "lost_samples");
	}
	at = c->plan->count - 1;
	plan_grows(c, set ? plan_longest_of(set) : plan_types[type].longest);
	err = plan_remember(c, name, w);
	if (!err)
		err = plan_set_key(c, at, name, set ? "" : opening_of(plan_types[type].kind), w);
	return err ? err : compile_possible(c, item, at, set, w);
}

int compile_zeros(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const pad_keys[] = {"pad", NULL}, *const align_keys[] = {"align", NULL};
	bool is_pad = json_object_get(item, "pad") != NULL;
	uint32_t n = 0;
	struct op *op;

	if (plan_unknown_keys(c, item, is_pad ? pad_keys : align_keys, w) ||
	    plan_small_number(c, item, is_pad ? "pad" : "align", &n, w))
		return -EINVAL;
	if (is_pad && plan_need(c, n, w))
		return -ENOMEM;
	op = plan_add(c, is_pad ? OP_PAD : OP_ALIGN, w);
	if (!op)
		return -ENOMEM;
	op->n = n || is_pad ? n : 1;
	if (is_pad)
		return 0;
	c->offset = -1;
	plan_forget_need(c);
	return 0;
}

/* size, length, count: a number, a field's name, the type of a prefix, "rest". */
static int size_source(struct compiler *c, const json_t *value, struct op *out,
		       const struct where *w)
{
	const char *text = json_string_value(value);
	int type = plan_type_named(text);

	if (json_is_integer(value) && json_integer_value(value) >= 0 &&
	    json_integer_value(value) <= 65535) {
		out->from = FROM_NUMBER;
		out->n = (uint32_t)json_integer_value(value);
		return 0;
	}
	if (type >= 0) {
		out->from = FROM_PREFIX;
		out->prefix = plan_types[type].width;
		return 0;
	}
	if (text && !strcmp(text, "rest")) {
		out->from = FROM_REST;
		return 0;
	}
	out->from = FROM_REG;
	return plan_reg_of(c, value, &out->used, w);
}

/* string, bytes, opaque, attr: as many bytes as something says. */
int compile_text(struct compiler *c, const json_t *item, uint8_t kind, const struct where *w)
{
	static const char *const known[] = {"name", "type", "size",     "length",
					    "less", "used", "readable", NULL};
	const json_t *size = json_object_get(item, "size"),
		     *length = json_object_get(item, "length");
	const json_t *used = json_object_get(item, "used");
	struct where at_size = where_key(w, size ? "size" : "length"),
		     at_used = where_key(w, "used");
	struct op source = {.from = kind == OP_STRING ? FROM_NUL : FROM_REST, .used = NO_REG};
	uint8_t shown = NO_REG;
	size_t at;
	struct op *op;
	int err = plan_unknown_keys(c, item, known, w);

	if (!err && (size || length))
		err = size_source(c, size ? size : length, &source, &at_size);
	if (!err && used)
		err = plan_reg_of(c, used, &shown, &at_used);
	if (!err)
		err = plan_small_number(c, item, "less", &source.less, w);
	if (err)
		return err;
	op = plan_add(c, kind, w);
	if (!op)
		return -ENOMEM;
	at = c->plan->count - 1;
	op->from = source.from;
	op->n = source.n;
	op->prefix = source.prefix;
	op->used = source.used;
	op->less = source.less;
	op->reg = shown;
	op->readable = json_is_true(json_object_get(item, "readable"));
	if (c->in_loop)
		c->smallest += source.from == FROM_PREFIX   ? source.prefix
			       : source.from == FROM_NUMBER ? source.n
							    : 0;
	c->offset = -1;
	plan_forget_need(c);
	if (kind == OP_ATTR && c->in_loop)
		c->smallest += c->with->abi->attr_smallest;
	plan_grows(c, kind == OP_ATTR ? ATTR_JSON : PUT_STRING_FIXED);
	plan_grows_per_byte(c, kind == OP_ATTR ? 12 : kind == OP_STRING ? PUT_STRING_MAX : 2);
	err = plan_remember(c, plan_name_of(item), w);
	return err ? err : plan_set_key(c, at, plan_name_of(item), kind == OP_BYTES ? "\"" : "", w);
}

static int compile_array(struct compiler *c, const json_t *item, const struct op *source, int type,
			 const struct where *w)
{
	static const char *const known[] = {"type", "markers", NULL};
	const json_t *each = json_object_get(item, "each");
	struct where at_each = where_key(w, "each");
	const struct abi_family *markers = NULL;
	size_t at, longest = plan_types[type].longest;
	struct op *op;

	if (plan_unknown_keys(c, each, known, &at_each))
		return -EINVAL;
	if (json_object_get(each, "markers")) {
		markers = plan_family_named(c, each, "markers", &at_each);
		if (!markers || plan_types[type].width != 8)
			return markers ? error_value(c->e, &at_each, each, "markers of 64 bits")
				       : -EINVAL;
		longest = plan_longest_of(markers) + 48;
	}
	op = plan_add(c, OP_ARRAY, w);
	if (!op)
		return -ENOMEM;
	at = c->plan->count - 1;
	op->from = source->from;
	op->n = source->n;
	op->prefix = source->prefix;
	op->used = source->used;
	op->per = source->per;
	op->element = plan_kind_of(c, type);
	op->width = plan_types[type].width;
	op->set = markers;
	op->value = op->mirrored = UINT64_MAX;
	for (size_t i = 0; markers && i < markers->count; i++) {
		if (!strcmp(markers->values[i].name, "max"))
			op->value = markers->values[i].value;
		if (json_object_get(markers->values[i].json, "followed_by"))
			op->mirrored = markers->values[i].value;
	}
	c->offset = -1;
	plan_forget_need(c);
	plan_grows(c, 8);
	plan_grows_per_byte(c, longest / plan_types[type].width + 1);
	return plan_set_key(c, at, plan_name_of(item), "[", w);
}

/* The fields between OP_LOOP and OP_NEXT, with what they take counted apart. */
static int compile_body(struct compiler *c, const json_t *body, bool is_list, const struct where *w)
{
	size_t outer_smallest = c->smallest, outer_longest = c->longest;
	bool outer_in_loop = c->in_loop, outside = c->outside;
	int err;

	c->in_loop = true;
	c->outside = false;
	c->smallest = 0;
	c->longest = 8;
	if (is_list) {
		err = compile_list(c, body, w);
	} else {
		json_t *one = json_pack("[O]", body);

		err = one ? compile_list(c, one, w) : plan_no_memory(c, w);
		json_decref(one);
	}
	if (!err && !c->smallest)
		err = error_value(c->e, w, body, "elements of one byte at least");
	if (!err)
		plan_grows_per_byte(c, c->longest / c->smallest + 1);
	c->in_loop = outer_in_loop;
	c->outside = outside;
	c->smallest = outer_smallest;
	c->longest = outer_longest;
	return err;
}

int compile_count(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"name", "count", "per", "each", "fields", NULL};
	const json_t *each = json_object_get(item, "each"),
		     *fields = json_object_get(item, "fields");
	struct where at_count = where_key(w, "count"),
		     at_each = where_key(w, each ? "each" : "fields");
	struct op source = {.used = NO_REG};
	int type = plan_type_named(json_string_value(json_object_get(each, "type")));
	size_t begin;
	struct op *op;
	int err = plan_unknown_keys(c, item, known, w);

	if (!err && !each == !fields)
		err = error_value(c->e, w, item, "each or fields");
	if (!err)
		err = size_source(c, json_object_get(item, "count"), &source, &at_count);
	if (!err)
		err = plan_small_number(c, item, "per", &source.per, w);
	if (err)
		return err;
	if (c->in_loop && source.from == FROM_PREFIX)
		c->smallest += source.prefix;
	if (each && type >= 0)
		return compile_array(c, item, &source, type, w);
	if (c->loops == LOOPS)
		return error_value(c->e, w, item, "arrays in no more than %d arrays", LOOPS - 1);
	op = plan_add(c, OP_LOOP, w);
	if (!op)
		return -ENOMEM;
	begin = c->plan->count - 1;
	op->from = source.from;
	op->n = source.n;
	op->prefix = source.prefix;
	op->used = source.used;
	op->per = source.per;
	op->bare = !fields;
	c->offset = -1;
	plan_forget_need(c);
	plan_grows(c, 8);
	err = plan_set_key(c, begin, plan_name_of(item), "[", w);
	c->loops++;
	if (!err)
		err = compile_body(c, fields ? fields : each, fields != NULL, &at_each);
	c->loops--;
	plan_forget_need(c);
	if (err)
		return err;
	op = plan_add(c, OP_NEXT, w);
	if (!op)
		return -ENOMEM;
	op->jump = (uint32_t)begin + 1;
	op->bare = !fields;
	op->path = c->plan->ops[begin].path;
	c->plan->ops[begin].jump = (uint32_t)c->plan->count;
	return 0;
}
