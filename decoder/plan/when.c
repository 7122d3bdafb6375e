/* SPDX-License-Identifier: MIT */
/*
 * Fields that are there or not, and lists of fields that stand elsewhere.
 */
#include "plan/compile.h"

#include <string.h>

#include "abi/attr.h"

static void compile_branch(struct compiler *c, const struct layout_list *list)
{
	plan_forget_need(c);
	compile_list(c, list);
	plan_forget_need(c);
}

/* Whether the attr is such. */
static bool attr_has(const struct compiler *c, const struct layout_condition *condition)
{
	uint64_t now = c->with->attr ? attr_get(condition->attr, c->with->attr, host_order()) : 0;

	if (condition->test == LAYOUT_IF_ATTR)
		return now;
	return (now & condition->value) == condition->value;
}

/* The operation that tests what the attr does not say; its index. */
static size_t compile_test(struct compiler *c, const struct layout_condition *condition)
{
	static const uint8_t kinds[] = {
		[LAYOUT_IF_MISC] = OP_UNLESS_MISC, [LAYOUT_IF_IS] = OP_UNLESS_IS,
		[LAYOUT_IF_NOT] = OP_UNLESS_NOT,   [LAYOUT_IF_AT_LEAST] = OP_UNLESS_AT_LEAST,
		[LAYOUT_IF_LEFT] = OP_UNLESS_LEFT, [LAYOUT_IF_MAYBE] = OP_UNLESS_MAYBE};
	struct op *op = plan_add(c, kinds[condition->test]);

	op->reg = plan_reg_of(c, condition->field);
	op->test.value = condition->value;
	return plan_last(c);
}

void compile_when(struct compiler *c, const struct layout_node *node)
{
	const struct layout_list *then = &node->when.then, *other = &node->when.other;
	size_t test, over, smallest = c->smallest;
	int offset = c->offset, after;

	if (node->when.condition.attr && c->with->gathered) {
		compile_list(c, then);
		compile_list(c, other);
		return;
	}
	if (node->when.condition.attr) {
		compile_list(c, attr_has(c, &node->when.condition) ? then : other);
		return;
	}
	test = compile_test(c, &node->when.condition);
	compile_branch(c, then);
	after = c->offset;
	if (other->count) {
		plan_add(c, OP_JUMP);
		over = plan_last(c);
		plan_aim(c, test);
		c->offset = offset;
		compile_branch(c, other);
		plan_aim(c, over);
		offset = c->offset;
	} else {
		plan_aim(c, test);
	}
	c->offset = offset == after ? after : -1;
	c->smallest = smallest; /* an element may do without */
}

void compile_use(struct compiler *c, const struct layout_node *node)
{
	if (!strcmp(node->use->name, "sample_id"))
		c->plan->trailer = true;
	if (node->name)
		compile_object(c, node->name, &node->use->list);
	else
		compile_list(c, &node->use->list);
}

void compile_switch(struct compiler *c, const struct layout_node *node)
{
	const struct abi_family *over = node->choice.over;
	uint8_t reg = plan_reg_of(c, node->choice.field);
	size_t smallest = c->smallest;

	for (size_t i = 0; i < over->count && !c->err; i++) {
		struct op *op;
		size_t test;

		if (!over->values[i].layout)
			continue;
		op = plan_add(c, OP_UNLESS_IS);
		op->reg = reg;
		op->test.value = over->values[i].value;
		test = plan_last(c);
		c->offset = -1;
		compile_branch(c, &over->values[i].layout->list);
		plan_aim(c, test);
	}
	c->smallest = smallest;
}
