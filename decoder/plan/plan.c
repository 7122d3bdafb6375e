/* SPDX-License-Identifier: MIT */
/*
 * What others ask of a plan, and its end.
 */
#include "plan/plan.h"

#include <errno.h>
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

/*
 * Paths and numbers.
 */

int paths_init(struct paths *paths)
{
	*paths = (struct paths){.numbers = json_object()};
	return paths->numbers ? 0 : -ENOMEM;
}

void paths_free(struct paths *paths)
{
	free(paths->names);
	json_decref(paths->numbers);
	*paths = (struct paths){0};
}

int paths_add(struct paths *paths, const char *path)
{
	if (paths_number(paths, path))
		return 0;
	if (paths->count == paths->capacity) {
		size_t capacity = paths->capacity ? 2 * paths->capacity : 512;
		const char **grown = realloc(paths->names, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		paths->names = grown;
		paths->capacity = capacity;
	}
	if (json_object_set_new(paths->numbers, path, json_integer((json_int_t)paths->count + 1)))
		return -ENOMEM;
	/* the object's own copy of the key, which stays where it is */
	paths->names[paths->count++] =
		json_object_iter_key(json_object_iter_at(paths->numbers, path));
	return 0;
}

uint32_t paths_number(const struct paths *paths, const char *path)
{
	return (uint32_t)json_integer_value(json_object_get(paths->numbers, path));
}

const char *paths_name(const struct paths *paths, uint32_t number)
{
	return number >= 1 && number <= paths->count ? paths->names[number - 1] : NULL;
}
