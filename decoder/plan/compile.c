/* SPDX-License-Identifier: MIT */
/*
 * Layouts -> plans. One function a kind of field.
 */
#include "plan/compile.h"

#include <string.h>

static void compile_node(struct compiler *c, const struct layout_node *node)
{
	switch (node->kind) {
	case LAYOUT_NUMBER:
		compile_number(c, node);
		break;
	case LAYOUT_WORD:
		compile_word(c, node);
		break;
	case LAYOUT_STRING:
	case LAYOUT_BYTES:
	case LAYOUT_OPAQUE:
	case LAYOUT_ATTR:
		compile_text(c, node);
		break;
	case LAYOUT_PAD:
	case LAYOUT_ALIGN:
		compile_zeros(c, node);
		break;
	case LAYOUT_ARRAY:
		compile_array(c, node);
		break;
	case LAYOUT_LOOP:
		compile_loop(c, node);
		break;
	case LAYOUT_OBJECT:
		compile_object(c, node->name, &node->object);
		break;
	case LAYOUT_REGS:
		compile_regs(c, node);
		break;
	case LAYOUT_INDEX:
		compile_index(c, node);
		break;
	case LAYOUT_WHEN:
		compile_when(c, node);
		break;
	case LAYOUT_USE:
		compile_use(c, node);
		break;
	case LAYOUT_SWITCH:
		compile_switch(c, node);
		break;
	}
}

static bool is_wanted(const struct compiler *c, const char *name)
{
	if (!c->with->fields || !name || !c->outside)
		return true;
	for (size_t i = 0; i < c->with->field_count; i++)
		if (!strcmp(c->with->fields[i], name))
			return true;
	return false;
}

/* A number that nobody asked for is stepped over. */
static void skip_number(struct compiler *c, size_t first)
{
	for (size_t i = first; i < c->plan->count; i++) {
		struct op *op = plan_op(c, i);

		if (op->kind >= OP_U8 && op->kind <= OP_SET)
			op->kind = OP_SKIP;
	}
}

/* What else nobody asked for is read and not written. */
static void compile_unwanted(struct compiler *c, const struct layout_node *node)
{
	size_t first = c->plan->count;

	if (node->kind == LAYOUT_NUMBER) {
		compile_node(c, node);
		skip_number(c, first);
		return;
	}
	plan_add(c, OP_HIDE);
	compile_node(c, node);
	plan_add(c, OP_SHOW);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as layouts are, LAYOUT_DEPTH */
void compile_list(struct compiler *c, const struct layout_list *list)
{
	for (size_t i = 0; i < list->count && !c->err; i++) {
		const struct layout_node *node = &list->nodes[i];

		if (is_wanted(c, node->name))
			compile_node(c, node);
		else
			compile_unwanted(c, node);
	}
}

/* The bits of misc that mean something in a record. */
static uint64_t misc_of(const struct abi *abi, const char *record)
{
	const struct abi_family *misc = abi_family(abi, "misc");
	uint64_t known = 0;

	for (size_t i = 0; i < misc->count; i++)
		if (abi_is_of_record(&misc->values[i], record))
			known |= misc->values[i].value;
	return known;
}

int plan_make(struct plan *plan, const struct plan_for *with, const struct layout *layout)
{
	bool is_tools = layout->owner == LAYOUT_OF_TOOL_RECORD;
	bool is_record = layout->owner == LAYOUT_OF_RECORD || is_tools;
	struct compiler c = {.with = with,
			     .plan = plan,
			     .offset = is_record ? HEADER : 0,
			     .outside = is_record,
			     .regs = REG_KEPT + 1};

	*plan = (struct plan){.name = layout->name,
			      .lenient = is_tools || layout->owner == LAYOUT_OF_VALUE};
	if (is_record)
		plan->misc_known = misc_of(with->abi, layout->name);
	compile_list(&c, &layout->list);
	plan_add(&c, OP_END);
	plan_set_number(&c, plan_last(&c), "rest");
	if (c.err)
		plan_free(plan);
	return c.err;
}
