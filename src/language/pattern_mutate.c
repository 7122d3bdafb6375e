/* SPDX-License-Identifier: MIT */
/*
 * Patterns turned round, part by part: what fitted must not fit any more.
 */
#include <string.h>

#include "language/one_or_list.h"
#include "language/pattern.h"
#include "language/pattern_operator.h"

static json_t *turned(const json_t *pattern)
{
	return json_pack("{s:O}", "not", pattern);
}

static json_t *with_member(const json_t *object, const char *key, json_t *value)
{
	json_t *copy = json_copy((json_t *)object);

	json_object_set_new(copy, key, value);
	return copy;
}

static json_t *with_element(const json_t *list, size_t i, json_t *value)
{
	json_t *copy = json_copy((json_t *)list);

	json_array_set_new(copy, i, value);
	return copy;
}

static json_t *mutate_parts(const json_t *pattern, unsigned *index);

/*
 * {"gt": 3, "lt": 9} -> {"not": {"gt": 3}, "lt": 9}; a `not` becomes twice that. In its place: what
 * it binds is used by those behind it.
 */
static json_t *turn_operator(const json_t *pattern, const char *mutated, const json_t *operand)
{
	json_t *out = json_object(), *one;
	const char *key;

	json_object_foreach((json_t *)pattern, key, one) {
		if (!strcmp(key, mutated))
			json_object_set_new(out, "not", json_pack("{s:O}", key, operand));
		else if (strcmp(key, "not"))
			json_object_set(out, key, one);
	}
	return out;
}

static json_t *without_last(const json_t *list)
{
	json_t *copy = json_copy((json_t *)list);

	json_array_remove(copy, json_array_size(copy) - 1);
	return copy;
}

/* Of {"of": pattern, "is": how many}: how many. What does not fit `of` may be as many. */
static json_t *mutate_counts(const json_t *operand, unsigned *index)
{
	for (size_t i = 0; i < elements(operand); i++) {
		const json_t *one = element(operand, i);
		json_t *is = mutate_parts(json_object_get(one, "is"), index), *mutated;

		if (!is)
			continue;
		mutated = with_member(one, "is", is);
		return json_is_array(operand) ? with_element(operand, i, mutated) : mutated;
	}
	return NULL;
}

/* Of what must fit there are parts; `never` as a whole is one. */
static bool is_by_parts(const struct relation *op)
{
	return op->operand == OPERAND_COUNTS ||
	       (op->operand == OPERAND_ELEMENTS && strcmp(op->name, "never") != 0);
}

/* Of patterns under an operator: each part of each, and of `exactly` that there are so many. */
static json_t *mutate_operation(const json_t *pattern, unsigned *index)
{
	const char *key;
	json_t *operand, *mutated;

	json_object_foreach((json_t *)pattern, key, operand) {
		const struct relation *op = pattern_operator(key, NULL);

		if (op->operand == OPERAND_NAME) /* anything fits */
			continue;
		if (!is_by_parts(op)) {
			if (!(*index)--)
				return turn_operator(pattern, key, operand);
			continue;
		}
		mutated = op->operand == OPERAND_ELEMENTS ? mutate_parts(operand, index)
							  : mutate_counts(operand, index);
		if (!mutated && !strcmp(key, "exactly") && json_array_size(operand) && !(*index)--)
			mutated = without_last(operand);
		if (mutated)
			return with_member(pattern, key, mutated);
	}
	return NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern */
static json_t *mutate_parts(const json_t *pattern, unsigned *index)
{
	json_t *item, *mutated;
	const char *key;
	size_t i;

	if (pattern_is_operation(pattern))
		return mutate_operation(pattern, index);
	json_object_foreach((json_t *)pattern, key, item) {
		mutated = mutate_parts(item, index);
		if (mutated)
			return with_member(pattern, key, mutated);
	}
	json_array_foreach(pattern, i, item) {
		mutated = mutate_parts(item, index);
		if (mutated)
			return with_element(pattern, i, mutated);
	}
	if (json_is_object(pattern) || json_array_size(pattern))
		return NULL;
	return (*index)-- ? NULL : turned(pattern);
}

json_t *pattern_mutate(const json_t *pattern, unsigned *index)
{
	return mutate_parts(pattern, index);
}
