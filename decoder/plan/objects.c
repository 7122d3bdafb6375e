/* SPDX-License-Identifier: MIT */
/*
 * What becomes an object: named lists of fields, words of bit fields, registers.
 */
#include "plan/compile.h"

#include <stdio.h>
#include <string.h>

#include "abi/attr.h"

/* Enters an object: its fields' paths begin with its name. Returns what to come back to. */
static size_t open_object(struct compiler *c, const char *name)
{
	size_t old = strlen(c->path);

	plan_add(c, OP_TEXT);
	plan_set_plain_key(c, plan_last(c), name, "{");
	plan_grows(c, 4);
	snprintf(c->path + old, sizeof(c->path) - old, "%s.", name);
	return old;
}

static void close_object(struct compiler *c, size_t old)
{
	c->path[old] = '\0';
	plan_add(c, OP_CLOSE);
}

void compile_object(struct compiler *c, const char *name, const struct layout_list *fields)
{
	bool outside = c->outside;
	size_t old = open_object(c, name);

	c->outside = false;
	compile_list(c, fields);
	c->outside = outside;
	close_object(c, old);
}

static uint8_t unit_of(const struct layout_word *word, uint8_t width)
{
	return word->declared ? (uint8_t)(width * 8) : 0;
}

static void compile_bits(struct compiler *c, const struct layout_bits *bits, uint8_t reg,
			 const struct layout_word *word, uint8_t width)
{
	uint8_t unit = unit_of(word, width);
	struct op *op;
	size_t test = 0;

	if (bits->only) {
		op = plan_add(c, OP_UNLESS_BITS_ARE);
		op->reg = reg;
		op->width = bits->only->width;
		op->test.place = (struct bit_place){bits->only->first, unit};
		op->test.value = bits->is;
		test = plan_last(c);
	}
	op = plan_add(c, OP_BITS);
	op->reg = reg;
	op->width = bits->width;
	op->bits.place = (struct bit_place){bits->first, unit};
	op->bits.bytes = width;
	op->bits.omit_zero = word->omit_zero;
	op->bits.set = bits->set;
	plan_grows(c, bits->set ? plan_longest_of(bits->set) : 24);
	plan_set_plain_key(c, plan_last(c), bits->name, "");
	plan_set_number(c, plan_last(c), bits->name);
	if (bits->only)
		plan_aim(c, test);
}

/* What has no name, as one number under "bits". */
static void compile_rest(struct compiler *c, const struct layout_word *word, uint8_t reg,
			 uint8_t width)
{
	struct op *op = plan_add(c, OP_REST);
	unsigned unit = width * 8u;

	op->reg = reg;
	op->width = (uint8_t)unit;
	op->rest.bytes = width;
	op->rest.declared = word->declared;
	for (size_t i = 0; i < word->count; i++) {
		const struct layout_bits *bits = &word->bits[i];
		uint64_t mask = UINT64_MAX >> (64 - bits->width);

		op->rest.named |= mask << bits->first;
		op->rest.mirrored |= mask << (unit - bits->first - bits->width);
	}
	plan_grows(c, 24);
	plan_set_plain_key(c, plan_last(c), "bits", "\"0x");
	plan_set_number(c, plan_last(c), "bits");
}

void compile_word(struct compiler *c, const struct layout_node *node)
{
	const struct layout_word *word = node->word.word;
	uint8_t width = layout_types[node->word.type].width, reg = c->regs++;
	const char *path = plan_path(c, node->name);
	size_t old = strlen(c->path), at;
	struct op *op;

	if (node->name)
		open_object(c, node->name);
	plan_need(c, width);
	op = plan_add(c, OP_WORD);
	at = plan_last(c);
	op->width = width;
	op->reg = reg;
	op->path = path;
	if (op->offset >= 0)
		op->offset -= width;
	if (node->name)
		plan_set_number(c, at, NULL); /* the object's own name */
	for (size_t i = 0; i < word->count; i++)
		compile_bits(c, &word->bits[i], reg, word, width);
	compile_rest(c, word, reg, width);
	if (node->name)
		close_object(c, old);
}

/* The names of all registers that there are, and of those that have none. */
static void gather_regs(struct compiler *c)
{
	const struct abi *abi = c->with->abi;
	char name[LAYOUT_NAME];

	for (size_t i = 0; i < abi->arch_count; i++)
		for (size_t k = 0; k < abi->archs[i].regs.count; k++)
			plan_set_number(c, plan_last(c), abi->archs[i].regs.values[k].name);
	for (unsigned bit = 0; bit < 64; bit++) {
		snprintf(name, sizeof(name), "bit%u", bit);
		plan_set_number(c, plan_last(c), name);
	}
}

/* The registers of the architecture that the attr's mask asks for, each by its name. */
void compile_regs(struct compiler *c, const struct layout_node *node)
{
	const struct plan_for *with = c->with;
	uint64_t mask = with->attr ? attr_get(node->regs, with->attr, host_order()) : 0;
	size_t old = open_object(c, node->name);

	if (with->gathered)
		gather_regs(c);
	for (unsigned bit = 0; bit < 64 && !c->err; bit++) {
		const struct abi_value *reg =
			with->arch ? abi_value_of(&with->arch->regs, UINT64_C(1) << bit) : NULL;
		char name[LAYOUT_NAME];

		if (!(mask >> bit & 1))
			continue;
		if (reg)
			snprintf(name, sizeof(name), "%s", reg->name);
		else
			snprintf(name, sizeof(name), "bit%u", bit);
		plan_need(c, 8);
		plan_add(c, OP_X64)->width = 8;
		plan_grows(c, 24);
		plan_set_key(c, plan_last(c), name, "\"0x");
	}
	close_object(c, old);
}
