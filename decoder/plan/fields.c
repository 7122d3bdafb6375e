/* SPDX-License-Identifier: MIT */
/*
 * Numbers, zeros, text and arrays.
 */
#include "plan/compile.h"

#include <stdio.h>
#include <string.h>

#include "text/json.h"

/* How numbers are written, and the most characters that one takes, with quotes and comma. */
static const struct {
	uint8_t kind, longest;
} types[LAYOUT_TYPES] = {
	[LAYOUT_U8] = {OP_U8, 4},     [LAYOUT_U16] = {OP_U16, 6},    [LAYOUT_U32] = {OP_U32, 11},
	[LAYOUT_U64] = {OP_U64, 21},  [LAYOUT_S32] = {OP_S32, 12},   [LAYOUT_S64] = {OP_S64, 21},
	[LAYOUT_HEX16] = {OP_X16, 9}, [LAYOUT_HEX32] = {OP_X32, 13}, [LAYOUT_HEX64] = {OP_X64, 21},
	[LAYOUT_F64] = {OP_F64, 32},
};

static const char *opening_of(uint8_t kind)
{
	return kind == OP_X16 || kind == OP_X32 || kind == OP_X64 ? "\"0x" : "";
}

static uint8_t op_of_type(const struct compiler *c, enum layout_type type)
{
	return type == LAYOUT_U64 && c->with->integers ? OP_I64 : types[type].kind;
}

/* The number has no bits but those that `set` names: with others the record is of another shape. */
static void compile_possible(struct compiler *c, const struct abi_family *set, uint8_t reg,
			     const char *key)
{
	struct op *op = plan_add(c, OP_POSSIBLE);

	op->reg = reg;
	op->key = key;
	for (size_t i = 0; i < set->count; i++)
		op->possible |= set->values[i].value;
}

void compile_number(struct compiler *c, const struct layout_node *node)
{
	enum layout_type type = node->number.type;
	const struct abi_family *set = node->number.set;
	uint8_t width = layout_types[type].width, kind = set ? OP_SET : op_of_type(c, type);
	size_t at;
	struct op *op;

	plan_need(c, width);
	op = plan_add(c, kind);
	at = plan_last(c);
	if (op->offset >= 0)
		op->offset -= width;
	op->width = width;
	if (set) {
		op->names.set = set;
		op->names.integers = c->with->integers;
	}
	if (node->is_named_by_others)
		op->reg = plan_new_reg(c, node);
	if (node->number.keep) {
		op->reg = REG_KEPT;
		c->plan->keeps = true;
	}
	if (node->number.counts && op->offset > 0 && width == 8) {
		c->plan->lost_offset = op->offset;
		c->plan->lost_samples = node->number.counts == COUNTS_LOST_SAMPLES;
	}
	plan_grows(c, set ? plan_longest_of(set) : types[type].longest);
	plan_set_key(c, at, node->name, opening_of(kind));
	op = plan_op(c, at);
	if (node->number.possible)
		compile_possible(c, set, op->reg, op->key);
}

void compile_zeros(struct compiler *c, const struct layout_node *node)
{
	if (node->kind == LAYOUT_PAD) {
		plan_need(c, node->zeros);
		plan_add(c, OP_PAD)->bytes = node->zeros;
	} else {
		plan_add(c, OP_ALIGN)->bytes = node->zeros;
		plan_unfix(c);
	}
}

static struct amount amount_of(const struct compiler *c, const struct layout_size *size)
{
	static const uint8_t from[] = {
		[LAYOUT_FROM_NUMBER] = FROM_NUMBER, [LAYOUT_FROM_FIELD] = FROM_REG,
		[LAYOUT_FROM_KEPT] = FROM_REG,      [LAYOUT_FROM_PREFIX] = FROM_PREFIX,
		[LAYOUT_FROM_REST] = FROM_REST,     [LAYOUT_FROM_NUL] = FROM_NUL};

	return (struct amount){.from = from[size->from],
			       .reg = plan_reg_of(c, size->field),
			       .prefix = size->prefix,
			       .number = size->number,
			       .less = size->less,
			       .per = size->per};
}

/* What stands in front of something and says how much it is. */
static size_t fixed_part(const struct layout_size *size)
{
	return size->from == LAYOUT_FROM_PREFIX ? size->prefix : 0;
}

/* How long a text is at least. */
static size_t sure_text(const struct compiler *c, const struct layout_node *node)
{
	const struct layout_size *size = &node->text.size;

	if (node->kind == LAYOUT_ATTR)
		return c->with->abi->attr_smallest;
	return size->from == LAYOUT_FROM_NUMBER && size->number > size->less
		       ? size->number - size->less
		       : 0;
}

/* string, bytes, opaque, attr: as many bytes as something says. */
void compile_text(struct compiler *c, const struct layout_node *node)
{
	static const struct {
		uint8_t kind;
		const char *opening;
		size_t longest, per_byte;
	} kinds[] = {[LAYOUT_STRING] = {OP_STRING, "", PUT_STRING_FIXED, PUT_STRING_MAX},
		     [LAYOUT_BYTES] = {OP_BYTES, "\"", PUT_STRING_FIXED, 2},
		     [LAYOUT_OPAQUE] = {OP_OPAQUE, "", PUT_STRING_FIXED, 2},
		     [LAYOUT_ATTR] = {OP_ATTR, "", ATTR_JSON, 12}};
	const struct layout_size *size = &node->text.size;
	size_t sure = sure_text(c, node);
	struct op *op = plan_add(c, kinds[node->kind].kind);

	op->text.amount = amount_of(c, size);
	op->text.used = node->text.used ? plan_reg_of(c, node->text.used) : NO_REG;
	op->text.readable = node->text.readable;
	if (c->in_loop) { /* what its bytes become comes on top of what is in each element */
		c->smallest += sure + fixed_part(size);
		plan_grows(c, sure * kinds[node->kind].per_byte);
	}
	plan_unfix(c);
	plan_grows(c, kinds[node->kind].longest);
	plan_grows_per_byte(c, kinds[node->kind].per_byte);
	plan_set_key(c, plan_last(c), node->name, kinds[node->kind].opening);
}

void compile_array(struct compiler *c, const struct layout_node *node)
{
	const struct abi_family *markers = node->array.markers;
	enum layout_type type = node->array.type;
	size_t width = layout_types[type].width;
	size_t longest = markers ? plan_longest_of(markers) + 48 : types[type].longest;
	struct op *op = plan_add(c, OP_ARRAY);

	op->width = (uint8_t)width;
	op->array.amount = amount_of(c, &node->array.count);
	op->array.element = op_of_type(c, type);
	op->array.field = plan_field_of(op_of_type(c, type));
	op->array.markers = markers;
	op->array.first_marker = op->array.cookie_marker = UINT64_MAX;
	for (size_t i = 0; markers && i < markers->count; i++) {
		if (!strcmp(markers->values[i].name, "max"))
			op->array.first_marker = markers->values[i].value;
		if (markers->values[i].followed_by.field)
			op->array.cookie_marker = markers->values[i].value;
	}
	if (c->in_loop)
		c->smallest += fixed_part(&node->array.count);
	plan_unfix(c);
	plan_grows(c, 8);
	plan_grows_per_byte(c, longest / width + 1);
	plan_set_key(c, plan_last(c), node->name, "[");
}

/* The fields between OP_LOOP and OP_NEXT, with what they take counted apart. */
static void compile_body(struct compiler *c, const struct layout_list *body)
{
	size_t outer_smallest = c->smallest, outer_longest = c->longest;
	bool outer_in_loop = c->in_loop, outside = c->outside;

	c->in_loop = true;
	c->outside = false;
	c->smallest = 0;
	c->longest = 8;
	compile_list(c, body);
	if (!c->err)
		plan_grows_per_byte(c, c->longest / c->smallest + 1);
	c->in_loop = outer_in_loop;
	c->outside = outside;
	c->smallest = outer_smallest;
	c->longest = outer_longest;
}

void compile_loop(struct compiler *c, const struct layout_node *node)
{
	struct op *op = plan_add(c, OP_LOOP);
	size_t begin = plan_last(c), old;
	const char *path;

	op->loop.amount = amount_of(c, &node->loop.count);
	op->loop.bare = node->loop.bare;
	if (c->in_loop)
		c->smallest += fixed_part(&node->loop.count);
	plan_unfix(c);
	plan_grows(c, 8);
	plan_set_key(c, begin, node->name, "[");
	old = strlen(c->path);
	if (node->name || !old)
		snprintf(c->path + old, sizeof(c->path) - old, "%s[].",
			 node->name ? node->name : "");
	else /* a list in a list */
		snprintf(c->path + old - 1, sizeof(c->path) - old + 1, "[].");
	compile_body(c, &node->loop.body);
	c->path[old] = '\0';
	if (old)
		c->path[old - 1] = '.';
	plan_forget_need(c);
	path = plan_op(c, begin)->path;
	op = plan_add(c, OP_NEXT);
	op->loop.jump = (uint32_t)begin + 1;
	op->loop.bare = node->loop.bare;
	op->path = path;
	plan_aim(c, begin);
}

void compile_index(struct compiler *c, const struct layout_node *node)
{
	plan_add(c, OP_INDEX)->names.set = node->index;
	plan_grows(c, plan_longest_of(node->index));
	plan_set_key(c, plan_last(c), node->name, "");
}
