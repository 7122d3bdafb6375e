/* SPDX-License-Identifier: MIT */
/*
 * What plans are made of: operations, their keys and registers, and how long a line can get.
 */
#include "plan/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "text/json.h"

const struct plan_type plan_types[PLAN_TYPES] = {
	{"u8", OP_U8, 1, 4},     {"u16", OP_U16, 2, 6},    {"u32", OP_U32, 4, 11},
	{"u64", OP_U64, 8, 21},  {"s32", OP_S32, 4, 12},   {"s64", OP_S64, 8, 21},
	{"hex16", OP_X16, 2, 9}, {"hex32", OP_X32, 4, 13}, {"hex64", OP_X64, 8, 21},
	{"f64", OP_F64, 8, 32},
};

/* Keys of a record's line that a field of it must not take. */
static const char *const taken[] = {"type", "offset", "size", "misc",    "event", "within",
				    "at",   "bytes",  "rest", "type_id", NULL};

int plan_no_memory(struct compiler *c, const struct where *w)
{
	return error_no_memory(c->e, w, "memory for a plan");
}

struct op *plan_add(struct compiler *c, uint8_t kind, const struct where *w)
{
	struct plan *plan = c->plan;
	struct op *op;

	if (plan->count == plan->capacity) {
		size_t capacity = plan->capacity ? 2 * plan->capacity : 16;
		struct op *grown = realloc(plan->ops, capacity * sizeof(*grown));

		if (!grown) {
			plan_no_memory(c, w);
			return NULL;
		}
		plan->ops = grown;
		plan->capacity = capacity;
	}
	op = &plan->ops[plan->count++];
	*op = (struct op){
		.kind = kind, .reg = NO_REG, .used = NO_REG, .offset = c->offset, .key = ""};
	return op;
}

/* Behind a jump's target nothing is known of what was checked before. */
void plan_forget_need(struct compiler *c)
{
	c->need = 0;
}

/* Bytes of fixed length come now: one check serves all that follow each other. */
int plan_need(struct compiler *c, uint32_t bytes, const struct where *w)
{
	if (!c->need) {
		if (!plan_add(c, OP_NEED, w))
			return -ENOMEM;
		c->need = c->plan->count;
	}
	c->plan->ops[c->need - 1].n += bytes;
	if (c->offset >= 0)
		c->offset += (int)bytes;
	if (c->in_loop)
		c->smallest += bytes;
	return 0;
}

/* Text that lives as long as the plan, readable to PUT_KEY bytes; many share a block. */
const char *plan_keep(struct compiler *c, const char *text, const struct where *w)
{
	struct plan *plan = c->plan;
	size_t n = strlen(text) + 1;
	char *copy;

	if (!plan->text_count || plan->text_used + n + PUT_KEY > TEXT_BLOCK) {
		void **grown = realloc(plan->texts, (plan->text_count + 1) * sizeof(*grown));
		void *block = grown ? calloc(1, TEXT_BLOCK) : NULL;

		if (grown)
			plan->texts = grown;
		if (!block) {
			plan_no_memory(c, w);
			return NULL;
		}
		plan->texts[plan->text_count++] = block;
		plan->text_used = 0;
	}
	copy = (char *)plan->texts[plan->text_count - 1] + plan->text_used;
	memcpy(copy, text, n);
	plan->text_used += n;
	return copy;
}

/* What a value of that many characters, key included, adds to the longest line. */
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

const char *plan_name_of(const json_t *item)
{
	return json_string_value(json_object_get(item, "name"));
}

int plan_set_key(struct compiler *c, size_t at, const char *name, const char *opening,
		 const struct where *w)
{
	char text[PATH + 32];
	const char *key, *path = NULL;
	struct op *op;
	int n = name ? snprintf(text, sizeof(text), "\"%s\":%s", name, opening)
		     : snprintf(text, sizeof(text), "%s", opening);

	if (n < 0 || (size_t)n >= sizeof(text))
		return error_text(c->e, w, name, "a shorter name");
	key = plan_keep(c, text, w);
	if (!key)
		return -ENOMEM;
	if (name && !c->in_loop) {
		char full[2 * PATH];

		snprintf(full, sizeof(full), "%s%s", c->path, name);
		path = plan_keep(c, full, w);
		if (!path)
			return -ENOMEM;
		c->plan->paths += strlen(full) + 32;
	}
	op = &c->plan->ops[at];
	op->key = key;
	op->key_length = (uint16_t)n;
	op->path = path;
	if (path && (!strcmp(path, "time") || !strcmp(path, "sample_id.time")))
		op->role = ROLE_TIME;
	if (path && (!strcmp(path, "cpu") || !strcmp(path, "sample_id.cpu")))
		op->role = ROLE_CPU;
	plan_grows(c, (size_t)n);
	return 0;
}

int plan_remember(struct compiler *c, const char *name, const struct where *w)
{
	if (!name)
		return 0;
	if (c->name_count == NAMES) /* the oldest are out of reach */
		memmove(&c->names[0], &c->names[1], --c->name_count * sizeof(c->names[0]));
	c->names[c->name_count].name = name;
	c->names[c->name_count++].op = c->plan->count - 1;
	if (c->outside && name_index(name, taken, NULL) >= 0 && c->record)
		return error_name(c->e, w, name, NULL, "a name that a record's line does not have");
	return 0;
}

/* The register that the field of that name is kept in from now on. */
int plan_reg_of(struct compiler *c, const json_t *json, uint8_t *reg, const struct where *w)
{
	const char *name = json_string_value(json);
	struct nearest near = nearest_to(name ? name : "");
	struct op *op;

	if (!name)
		return error_value(c->e, w, json, "the name of a field before this one");
	if (name[0] == '$') {
		*reg = REG_KEPT;
		return 0;
	}
	for (size_t i = c->name_count; i--;) {
		if (strcmp(c->names[i].name, name))
			continue;
		op = &c->plan->ops[c->names[i].op];
		if (op->reg == NO_REG) {
			if (c->regs == REGS)
				return error_name(c->e, w, name, NULL,
						  "fewer fields that others name");
			op->reg = c->regs++;
		}
		*reg = op->reg;
		return 0;
	}
	for (size_t i = 0; i < c->name_count; i++)
		nearest_try(&near, c->names[i].name);
	return error_name(c->e, w, name, near.best, "the name of a field before this one");
}

int plan_unknown_keys(struct compiler *c, const json_t *item, const char *const known[],
		      const struct where *w)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)item, key, value) {
		struct nearest near = nearest_to(key);
		struct where at = where_key(w, key);

		if (name_index(key, known, &near) < 0)
			return error_name(c->e, &at, key, near.best, "a key of such a field");
	}
	return 0;
}

int plan_small_number(struct compiler *c, const json_t *item, const char *key, uint32_t *out,
		      const struct where *w)
{
	const json_t *value = json_object_get(item, key);
	struct where at = where_key(w, key);

	if (!value)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > 65535)
		return error_value(c->e, &at, value, "a number from 0 to 65535");
	*out = (uint32_t)json_integer_value(value);
	return 0;
}

const struct abi_family *plan_family_named(struct compiler *c, const json_t *item, const char *key,
					   const struct where *w)
{
	const struct abi *abi = c->with->abi;
	const json_t *value = json_object_get(item, key);
	const char *name = json_string_value(value);
	const struct abi_family *family = name ? abi_family(abi, name) : NULL;
	struct nearest near = nearest_to(name ? name : "");
	struct where at = where_key(w, key);

	if (family)
		return family;
	for (size_t i = 0; i < abi->family_count; i++)
		nearest_try(&near, abi->families[i].name);
	if (name)
		error_name(c->e, &at, name, near.best, "a family of constants");
	else
		error_value(c->e, &at, value, "the name of a family of constants");
	return NULL;
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

uint8_t plan_kind_of(const struct compiler *c, int type)
{
	uint8_t kind = plan_types[type].kind;

	return kind == OP_U64 && c->with->integers ? OP_I64 : kind;
}

int plan_type_named(const char *name)
{
	for (size_t i = 0; name && i < PLAN_TYPES; i++)
		if (!strcmp(plan_types[i].name, name))
			return (int)i;
	return -1;
}
