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

static json_t *flip_parts(const json_t *pattern, unsigned *index);

/*
 * {"gt": 3, "lt": 9} -> {"not": {"gt": 3}, "lt": 9}; a `not` becomes twice that. In its place: what
 * it binds is used by those behind it.
 */
static json_t *flip_operator(const json_t *pattern, const char *flipped, const json_t *operand)
{
	json_t *out = json_object(), *one;
	const char *key;

	json_object_foreach((json_t *)pattern, key, one) {
		if (!strcmp(key, flipped))
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
static json_t *flip_times(const json_t *operand, unsigned *index)
{
	for (size_t i = 0; i < elements(operand); i++) {
		const json_t *one = element(operand, i);
		json_t *is = flip_parts(json_object_get(one, "is"), index), *flipped;

		if (!is)
			continue;
		flipped = with_member(one, "is", is);
		return json_is_array(operand) ? with_element(operand, i, flipped) : flipped;
	}
	return NULL;
}

/* Of patterns under an operator: each part of each, and of `exactly` that there are so many. */
static json_t *flip_operation(const json_t *pattern, unsigned *index)
{
	const char *key;
	json_t *operand, *flipped;

	json_object_foreach((json_t *)pattern, key, operand) {
		const struct relation *op = pattern_operator(key, NULL);

		if (op->shape == NAME) /* anything fits */
			continue;
		if (op->shape != PATTERNS || !strcmp(key, "never")) {
			if (!(*index)--)
				return flip_operator(pattern, key, operand);
			continue;
		}
		flipped = strcmp(key, "times") ? flip_parts(operand, index)
					       : flip_times(operand, index);
		if (!flipped && !strcmp(key, "exactly") && json_array_size(operand) && !(*index)--)
			flipped = without_last(operand);
		if (flipped)
			return with_member(pattern, key, flipped);
	}
	return NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern */
static json_t *flip_parts(const json_t *pattern, unsigned *index)
{
	json_t *item, *flipped;
	const char *key;
	size_t i;

	if (pattern_is_operation(pattern))
		return flip_operation(pattern, index);
	json_object_foreach((json_t *)pattern, key, item) {
		flipped = flip_parts(item, index);
		if (flipped)
			return with_member(pattern, key, flipped);
	}
	json_array_foreach(pattern, i, item) {
		flipped = flip_parts(item, index);
		if (flipped)
			return with_element(pattern, i, flipped);
	}
	if (json_is_object(pattern) || json_array_size(pattern))
		return NULL;
	return (*index)-- ? NULL : turned(pattern);
}

json_t *pattern_flip(const json_t *pattern, unsigned *index)
{
	return flip_parts(pattern, index);
}
