/* SPDX-License-Identifier: MIT */
/*
 * What others ask of a layout, by a walk over its tree.
 */
#include "abi/layout.h"

#include <string.h>

const char *const layout_type_names[] = {
	[LAYOUT_U8] = "u8",       [LAYOUT_U16] = "u16",     [LAYOUT_U32] = "u32",
	[LAYOUT_U64] = "u64",     [LAYOUT_S8] = "s8",       [LAYOUT_S16] = "s16",
	[LAYOUT_S32] = "s32",     [LAYOUT_S64] = "s64",     [LAYOUT_HEX16] = "hex16",
	[LAYOUT_HEX32] = "hex32", [LAYOUT_HEX64] = "hex64", [LAYOUT_F64] = "f64",
	[LAYOUT_TYPES] = NULL};
const uint8_t layout_widths[LAYOUT_TYPES] = {
	[LAYOUT_U8] = 1,    [LAYOUT_U16] = 2,   [LAYOUT_U32] = 4,   [LAYOUT_U64] = 8,
	[LAYOUT_S8] = 1,    [LAYOUT_S16] = 2,   [LAYOUT_S32] = 4,   [LAYOUT_S64] = 8,
	[LAYOUT_HEX16] = 2, [LAYOUT_HEX32] = 4, [LAYOUT_HEX64] = 8, [LAYOUT_F64] = 8};

const struct layout_member layout_line[] = {
	{.name = "type", .value = VALUE_TEXT},    {.name = "offset", .value = VALUE_NUMBER},
	{.name = "size", .value = VALUE_NUMBER},  {.name = "misc", .value = VALUE_NAMES},
	{.name = "event", .value = VALUE_NUMBER}, {0}};

const struct layout *abi_layout(const struct abi *abi, const char *name)
{
	for (size_t i = 0; i < abi->layout_count; i++)
		if (!strcmp(abi->layouts[i].name, name))
			return &abi->layouts[i];
	return NULL;
}

static enum layout_value value_of_set(const struct abi_family *set)
{
	return !set ? VALUE_NUMBER : set->mask ? VALUE_NAMES : VALUE_TEXT;
}

static enum layout_value member_value(const struct layout_node *node)
{
	switch (node->kind) {
	case LAYOUT_NUMBER:
		return value_of_set(node->number.set);
	case LAYOUT_STRING:
	case LAYOUT_BYTES:
	case LAYOUT_INDEX:
		return VALUE_TEXT;
	case LAYOUT_ARRAY:
	case LAYOUT_LOOP:
		return VALUE_LIST;
	case LAYOUT_OPAQUE:
		return VALUE_NUMBER;
	default:
		return VALUE_OBJECT;
	}
}

static void tell_bits(const struct abi_family *word, layout_tell *tell, void *context,
		      bool is_sometimes)
{
	for (size_t i = 0; i < word->count; i++) {
		const struct abi_bits *bits = &word->values[i].bits;

		tell(context, &(struct layout_member){word->values[i].name, value_of_set(bits->set),
						      NULL, is_sometimes || bits->only});
	}
	tell(context, &(struct layout_member){"bits", VALUE_NUMBER, NULL, is_sometimes});
}

/* A node's lists of fields, from 0 on; NULL behind the last. */
static const struct layout_list *list_of(const struct layout_node *node, size_t i)
{
	static const struct layout_list empty;

	switch (node->kind) {
	case LAYOUT_WHEN:
		return i == 0 ? &node->when.then : i == 1 ? &node->when.other : NULL;
	case LAYOUT_OBJECT:
		return i ? NULL : &node->object;
	case LAYOUT_LOOP:
		return i ? NULL : &node->loop.body;
	case LAYOUT_USE:
		return i ? NULL : &node->use->list;
	case LAYOUT_SWITCH:
		if (i >= node->choice.over->count)
			return NULL;
		return node->choice.over->values[i].layout
			       ? &node->choice.over->values[i].layout->list
			       : &empty;
	default:
		return NULL;
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as layouts are, LAYOUT_DEPTH */
static void tell_members(const struct layout_list *list, layout_tell *tell, void *context,
			 bool is_sometimes)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct layout_node *node = &list->nodes[i];
		bool decides = node->kind == LAYOUT_WHEN || node->kind == LAYOUT_SWITCH;
		const struct layout_list *inner;

		if (node->name)
			tell(context, &(struct layout_member){node->name, member_value(node), node,
							      is_sometimes});
		else if (node->kind == LAYOUT_WORD)
			tell_bits(node->word.fields, tell, context, is_sometimes);
		for (size_t k = 0; !node->name && (inner = list_of(node, k)); k++)
			tell_members(inner, tell, context, is_sometimes || decides);
	}
}

void layout_members(const struct layout_list *list, layout_tell *tell, void *context)
{
	tell_members(list, tell, context, false);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as layouts are, LAYOUT_DEPTH */
void layout_attr_fields(const struct layout_list *list,
			void (*tell)(void *context, const struct abi_field *field), void *context)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct layout_node *node = &list->nodes[i];
		const struct layout_list *inner;

		if (node->kind == LAYOUT_REGS)
			tell(context, node->regs.mask);
		if (node->kind == LAYOUT_REGS && node->regs.width)
			tell(context, node->regs.width);
		if (node->kind == LAYOUT_REGS && node->regs.simd)
			tell(context, node->regs.simd);
		if (node->kind == LAYOUT_WHEN && node->when.condition.attr)
			tell(context, node->when.condition.attr);
		for (size_t k = 0; (inner = list_of(node, k)); k++)
			layout_attr_fields(inner, tell, context);
	}
}
