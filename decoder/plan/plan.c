/* SPDX-License-Identifier: MIT */
/*
 * What others ask of a plan, and its end.
 */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

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
			size += plan->ops[i].bytes;
	return size;
}

static const struct op *number_op(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->ops[i].path && !strcmp(plan->ops[i].path, path) &&
		    plan->ops[i].kind >= OP_U8 && plan->ops[i].kind <= OP_SKIP)
			return &plan->ops[i];
	return NULL;
}

int plan_offset(const struct plan *plan, const char *path)
{
	const struct op *op = number_op(plan, path);

	return op ? op->offset : -1;
}

bool plan_number(const struct plan *plan, const char *path, const unsigned char *bytes, size_t size,
		 enum byte_order order, uint64_t *value)
{
	const struct op *op = number_op(plan, path);

	if (!op || op->offset < 0 || size < (size_t)op->offset + op->width)
		return false;
	*value = load_word(bytes + op->offset, op->width, order);
	return true;
}
