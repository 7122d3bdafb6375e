/* SPDX-License-Identifier: MIT */
/*
 * What plans are made of: operations, their keys and registers, and how long a line can get.
 */
#include "plan/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/json.h"

enum { TEXT_BLOCK = 1024 };

struct op *plan_add(struct compiler *c, uint8_t kind)
{
	struct plan *plan = c->plan;
	struct op *op = &c->none;

	if (!c->err && plan->count == plan->capacity) {
		size_t capacity = plan->capacity ? 2 * plan->capacity : 16;
		struct op *grown = realloc(plan->ops, capacity * sizeof(*grown));

		if (grown) {
			plan->ops = grown;
			plan->capacity = capacity;
		} else {
			c->err = -ENOMEM;
		}
	}
	if (!c->err)
		op = &plan->ops[plan->count++];
	*op = (struct op){.kind = kind, .reg = NO_REG, .offset = c->offset, .key = ""};
	return op;
}

size_t plan_last(const struct compiler *c)
{
	return c->plan->count - 1;
}

struct op *plan_op(struct compiler *c, size_t index)
{
	return c->err ? &c->none : &c->plan->ops[index];
}

void plan_aim(struct compiler *c, size_t index)
{
	struct op *op = plan_op(c, index);
	uint32_t target = (uint32_t)c->plan->count;

	if (op->kind == OP_JUMP)
		op->jump = target;
	else if (op->kind == OP_LOOP)
		op->loop.jump = target;
	else
		op->test.jump = target;
}

void plan_forget_need(struct compiler *c)
{
	c->need = 0;
}

void plan_need(struct compiler *c, uint32_t bytes)
{
	if (!c->need) {
		plan_add(c, OP_NEED);
		c->need = c->plan->count;
	}
	plan_op(c, c->need - 1)->bytes += bytes;
	if (c->offset >= 0)
		c->offset += (int)bytes;
	if (c->in_loop)
		c->smallest += bytes;
}

void plan_unfix(struct compiler *c)
{
	c->offset = -1;
	plan_forget_need(c);
}

/* A block for texts, the last one; NULL when there is no memory. */
static char *block_for(struct compiler *c, size_t n)
{
	struct plan *plan = c->plan;
	void **grown, *block;

	if (plan->text_count && plan->text_used + n + PUT_KEY <= TEXT_BLOCK)
		return plan->texts[plan->text_count - 1];
	grown = realloc(plan->texts, (plan->text_count + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	plan->texts = grown;
	block = calloc(1, TEXT_BLOCK);
	if (!block)
		return NULL;
	plan->texts[plan->text_count++] = block;
	plan->text_used = 0;
	return block;
}

const char *plan_keep(struct compiler *c, const char *text)
{
	size_t n = strlen(text) + 1;
	char *block = c->err ? NULL : block_for(c, n), *copy;

	if (!block) {
		c->err = -ENOMEM;
		return "";
	}
	copy = block + c->plan->text_used;
	memcpy(copy, text, n);
	c->plan->text_used += n;
	return copy;
}

void plan_grows(struct compiler *c, size_t characters)
{
	if (c->in_loop)
		c->longest += characters;
	else
		c->plan->fixed += characters;
}

void plan_grows_per_byte(struct compiler *c, size_t characters)
{
	if (characters > c->plan->per_byte)
		c->plan->per_byte = characters;
}

const char *plan_path(struct compiler *c, const char *name)
{
	char full[PATH + LAYOUT_NAME];

	if (!name || c->in_loop)
		return NULL;
	snprintf(full, sizeof(full), "%s%s", c->path, name);
	c->plan->paths += strlen(full) + 32;
	return plan_keep(c, full);
}

static uint8_t role_of(const char *path)
{
	if (path && (!strcmp(path, "time") || !strcmp(path, "sample_id.time")))
		return ROLE_TIME;
	if (path && (!strcmp(path, "cpu") || !strcmp(path, "sample_id.cpu")))
		return ROLE_CPU;
	return ROLE_NONE;
}

void plan_set_plain_key(struct compiler *c, size_t at, const char *name, const char *opening)
{
	char text[LAYOUT_NAME + 32];
	const char *key;
	struct op *op;
	int n = name ? snprintf(text, sizeof(text), "\"%s\":%s", name, opening)
		     : snprintf(text, sizeof(text), "%s", opening);

	key = plan_keep(c, text);
	op = plan_op(c, at);
	op->key = key;
	op->key_length = (uint16_t)n;
	plan_grows(c, (size_t)n);
}

uint8_t plan_field_of(uint8_t kind)
{
	switch (kind) {
	case OP_S32:
	case OP_S64:
		return FIELD_SIGNED;
	case OP_X16:
	case OP_X32:
	case OP_X64:
		return FIELD_HEX;
	case OP_F64:
		return FIELD_DOUBLE;
	case OP_BITS:
		return FIELD_BITS;
	case OP_STRING:
		return FIELD_STRING;
	case OP_BYTES:
	case OP_END:
		return FIELD_BYTES;
	case OP_OPAQUE:
		return FIELD_OPAQUE;
	case OP_ATTR:
		return FIELD_ATTR;
	case OP_ARRAY:
		return FIELD_ARRAY;
	case OP_LOOP:
		return FIELD_LIST;
	case OP_INDEX:
		return FIELD_INDEX;
	default:
		return FIELD_UNSIGNED;
	}
}

void plan_set_number(struct compiler *c, size_t at, const char *name)
{
	const struct plan_for *with = c->with;
	struct op *op = plan_op(c, at);
	char full[PATH + LAYOUT_NAME];
	int n;

	if (!with->paths && !with->gathered)
		return;
	n = snprintf(full, sizeof(full), "%s%s", c->path, name ? name : "");
	if (!name && n) /* an element that is no object has its list's name */
		full[n - 1] = '\0';
	if (with->gathered && !c->err)
		c->err = paths_add(with->gathered, full);
	op->number = with->paths ? paths_number(with->paths, full) : 0;
	op->field = plan_field_of(op->kind);
}

void plan_set_key(struct compiler *c, size_t at, const char *name, const char *opening)
{
	const char *path = plan_path(c, name);
	struct op *op;

	plan_set_plain_key(c, at, name, opening);
	plan_set_number(c, at, name);
	op = plan_op(c, at);
	op->path = path;
	op->role = role_of(path);
}

uint8_t plan_new_reg(struct compiler *c, const struct layout_node *node)
{
	uint8_t reg = c->regs++;

	if (node->kind == LAYOUT_NUMBER && node->number.keep)
		reg = REG_KEPT;
	c->named[c->named_count].node = node;
	c->named[c->named_count++].reg = reg;
	return reg;
}

uint8_t plan_reg_of(const struct compiler *c, const struct layout_node *node)
{
	for (size_t i = c->named_count; node && i--;)
		if (c->named[i].node == node)
			return c->named[i].reg;
	return REG_KEPT;
}

/* The most that OP_SET or bits of a family can take: all names of a mask, the longest of an enum.
 */
size_t plan_longest_of(const struct abi_family *set)
{
	size_t sum = 32, longest = 24;

	for (size_t i = 0; i < set->count; i++) {
		size_t n = strlen(set->values[i].name) + 8;

		sum += n;
		longest = n > longest ? n : longest;
	}
	return set->mask ? sum : longest;
}
