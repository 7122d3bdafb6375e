/* SPDX-License-Identifier: MIT */
/*
 * What becomes an object: named lists of fields, words of bit fields, registers.
 */
#include "plan/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "text/json.h"

/* Enters an object: its fields' paths begin with its name. */
static int push_path(struct compiler *c, const char *name, size_t *old, const struct where *w)
{
	*old = strlen(c->path);
	if (*old + strlen(name) + 2 > sizeof(c->path))
		return error_text(c->e, w, name, "shorter names, or fewer objects in objects");
	sprintf(c->path + *old, "%s.", name);
	return 0;
}

static int open_object(struct compiler *c, const char *name, const struct where *w)
{
	struct op *op = plan_add(c, OP_TEXT, w);
	int err = op ? plan_set_key(c, c->plan->count - 1, name, "{", w) : -ENOMEM;

	if (!err)
		c->plan->ops[c->plan->count - 1].path = NULL;
	plan_grows(c, 4);
	return err;
}

static int close_object(struct compiler *c, const struct where *w)
{
	struct op *op = plan_add(c, OP_CLOSE, w);

	if (!op)
		return -ENOMEM;
	return 0;
}

int compile_object(struct compiler *c, const char *name, const json_t *fields,
		   const struct where *w)
{
	bool outside = c->outside;
	size_t old;
	int err = push_path(c, name, &old, w);

	if (err)
		return err;
	c->path[old] = '\0';
	err = open_object(c, name, w);
	sprintf(c->path + old, "%s.", name);
	c->outside = false;
	if (!err)
		err = compile_list(c, fields, w);
	c->outside = outside;
	c->path[old] = '\0';
	return err ? err : close_object(c, w);
}

static int bits_of(struct compiler *c, const json_t *member, unsigned unit, struct op *op,
		   const struct where *w)
{
	const json_t *bits = json_object_get(member, "bits");
	long long first = json_integer_value(json_array_get(bits, 0));
	long long width = json_integer_value(json_array_get(bits, 1));

	if (json_array_size(bits) != 2 || first < 0 || width < 1 || width > 64 ||
	    first > (long long)unit * 8 - width)
		return error_value(c->e, w, bits, "[first, width] within the word");
	op->n = (uint32_t)first;
	op->width = (uint8_t)width;
	return 0;
}

/* {"field": "type", "is": 15}: a bit field that means something only with another's value. */
static int compile_only(struct compiler *c, const json_t *only, const json_t *members, uint8_t reg,
			unsigned unit, size_t *skip, const struct where *w)
{
	const char *name = json_string_value(json_object_get(only, "field"));
	const json_t *is = json_object_get(only, "is"), *member;
	size_t i;

	json_array_foreach(members, i, member) {
		struct op bits = {0}, *op;

		if (!name || !plan_name_of(member) || strcmp(plan_name_of(member), name))
			continue;
		if (!json_is_integer(is) || bits_of(c, member, unit, &bits, w))
			break;
		op = plan_add(c, OP_UNLESS_IS, w);
		if (!op)
			return -ENOMEM;
		op->reg = reg;
		op->n = bits.n;
		op->width = bits.width;
		op->value = (uint64_t)json_integer_value(is);
		*skip = c->plan->count;
		return 0;
	}
	return error_value(c->e, w, only, "{\"field\": another member, \"is\": a number}");
}

static int compile_member(struct compiler *c, const json_t *member, const json_t *layout,
			  uint8_t reg, unsigned unit, const struct where *w)
{
	const json_t *only = json_object_get(member, "only");
	const struct abi_family *set = NULL;
	size_t skip = 0;
	struct op *op;
	int err = 0;

	if (json_object_get(member, "set") && !(set = plan_family_named(c, member, "set", w)))
		return -EINVAL;
	if (only)
		err = compile_only(c, only, json_object_get(layout, "values"), reg, unit, &skip, w);
	if (err)
		return err;
	op = plan_add(c, OP_BITS, w);
	if (!op)
		return -ENOMEM;
	err = bits_of(c, member, unit, op, w);
	op->reg = reg;
	op->set = set;
	op->per = json_string_value(json_object_get(layout, "order")) ? unit * 8 : 0;
	op->omit_zero = json_is_true(json_object_get(layout, "omit_zero"));
	plan_grows(c, set ? plan_longest_of(set) : 24);
	if (!err)
		err = plan_set_key(c, c->plan->count - 1, plan_name_of(member), "", w);
	c->plan->ops[c->plan->count - 1].path = NULL;
	if (skip) {
		c->plan->ops[skip - 1].per = op->per;
		c->plan->ops[skip - 1].jump = (uint32_t)c->plan->count;
	}
	return err;
}

/* A word whose members are listed in a family of kind layout; what has no member is under "bits".
 */
int compile_bitfield(struct compiler *c, const json_t *item, int type, const struct where *w)
{
	const struct abi_family *layout = plan_family_named(c, item, "bitfield", w);
	const char *name = plan_name_of(item);
	uint64_t named = 0, mirrored = 0;
	const json_t *member;
	struct op *op;
	uint8_t reg = c->regs;
	size_t i, word;
	int err = 0;

	if (!layout)
		return -EINVAL;
	if (c->regs == REGS)
		return error_value(c->e, w, item, "fewer fields that others name");
	c->regs++;
	if (name)
		err = open_object(c, name, w);
	if (err || plan_need(c, plan_types[type].width, w))
		return -ENOMEM;
	op = plan_add(c, OP_WORD, w);
	if (!op)
		return -ENOMEM;
	word = c->plan->count - 1;
	op->width = plan_types[type].width;
	op->reg = reg;
	if (op->offset >= 0)
		op->offset -= plan_types[type].width;
	json_array_foreach(json_object_get(layout->json, "values"), i, member) {
		err = compile_member(c, member, layout->json, reg, plan_types[type].width, w);
		if (err)
			return err;
		op = &c->plan->ops[c->plan->count - 1];
		named |= UINT64_MAX >> (64 - op->width) << op->n;
		if (op->per)
			mirrored |= UINT64_MAX >> (64 - op->width) << (op->per - op->n - op->width);
	}
	op = plan_add(c, OP_BITS, w); /* the rest, as one number */
	if (!op)
		return -ENOMEM;
	op->reg = reg;
	op->width = (uint8_t)(plan_types[type].width * 8);
	op->omit_zero = true;
	op->value = named;
	op->mirrored = mirrored;
	op->per = json_string_value(json_object_get(layout->json, "order")) ? op->width : 0;
	op->element = OP_X64;
	plan_grows(c, 24);
	err = plan_set_key(c, c->plan->count - 1, "bits", "\"0x", w);
	c->plan->ops[c->plan->count - 1].path = NULL;
	if (!err && name) {
		char full[2 * PATH];

		snprintf(full, sizeof(full), "%s%s", c->path, name);
		c->plan->ops[word].path = c->in_loop ? NULL : plan_keep(c, full, w);
		c->plan->paths += strlen(full) + 32;
		err = close_object(c, w);
	}
	return err;
}

/* The registers of the architecture that the attr's mask asks for, each by its name. */
int compile_regs(struct compiler *c, const json_t *item, const struct where *w)
{
	static const char *const known[] = {"name", "regs", NULL};
	const struct plan_for *with = c->with;
	const char *mask_name = json_string_value(json_object_get(item, "regs"));
	const struct abi_field *field = mask_name ? abi_field(with->abi, mask_name) : NULL;
	uint64_t mask;
	size_t old;
	int err = plan_unknown_keys(c, item, known, w);

	if (!err && (!field || !plan_name_of(item)))
		err = error_value(c->e, w, item, "a name, and regs: a field of attr");
	if (err)
		return err;
	if (with->uses)
		with->uses(with->context, field);
	mask = with->attr ? attr_get(field, with->attr, host_order()) : UINT64_MAX;
	err = open_object(c, plan_name_of(item), w);
	if (!err)
		err = push_path(c, plan_name_of(item), &old, w);
	for (unsigned bit = 0; bit < 64 && !err; bit++) {
		const struct abi_value *reg =
			with->arch ? abi_value_of(&with->arch->regs, UINT64_C(1) << bit) : NULL;
		char name[32];
		struct op *op;

		if (!(mask >> bit & 1))
			continue;
		if (reg)
			snprintf(name, sizeof(name), "%s", reg->name);
		else
			snprintf(name, sizeof(name), "bit%u", bit);
		if (plan_need(c, 8, w) || !(op = plan_add(c, OP_X64, w)))
			return -ENOMEM;
		op->width = 8;
		plan_grows(c, 24);
		err = plan_set_key(c, c->plan->count - 1, name, "\"0x", w);
	}
	if (err)
		return err;
	c->path[old] = '\0';
	return close_object(c, w);
}
