/* SPDX-License-Identifier: MIT */
/*
 * Matching numbers against patterns.
 */
#include "pattern.h"

#include <errno.h>
#include <string.h>

static const char *const operators[] = {"gt", "ge", "lt", "le", "ne", "has", "without", "between"};
enum { OPERATORS = sizeof(operators) / sizeof(operators[0]) };

static int number(const json_t *json, const struct scope *scope, const struct where *w,
		  uint64_t *out, struct error *e)
{
	struct vars vars = scope_vars(scope);
	struct value value;

	if (value_eval(json, NULL, &vars, w, &value, e))
		return -EINVAL;
	*out = value.bits;
	return 0;
}

/* Whether `value` stands in that relation to the operand. */
static int apply(const char *relation, const json_t *operand, uint64_t value,
		 const struct scope *scope, const struct where *w, bool *out, struct error *e)
{
	struct nearest near = nearest_to(relation);
	uint64_t a = 0, b = 0;
	size_t i;

	for (i = 0; i < OPERATORS && strcmp(operators[i], relation); i++)
		nearest_try(&near, operators[i]);
	if (i == OPERATORS)
		return error_name(e, w, relation, near.best,
				  "gt, ge, lt, le, ne, between, has or without");
	if (!strcmp(relation, "between")) {
		if (json_array_size(operand) != 2)
			return error_value(e, w, operand, "[lowest, highest]");
		if (number(json_array_get(operand, 0), scope, w, &a, e) ||
		    number(json_array_get(operand, 1), scope, w, &b, e))
			return -EINVAL;
	} else if (number(operand, scope, w, &a, e)) {
		return -EINVAL;
	}
	const bool results[OPERATORS] = {
		value > a,  value >= a,       value < a,        value <= a,
		value != a, (value & a) == a, (value & a) == 0, value >= a && value <= b};

	*out = results[i];
	return 0;
}

static int match(const json_t *pattern, uint64_t value, const struct scope *scope,
		 const struct where *w, bool *out, struct error *e)
{
	const char *relation;
	json_t *operand;
	uint64_t wanted;

	*out = true;
	if (!json_is_object(pattern)) {
		if (number(pattern, scope, w, &wanted, e))
			return -EINVAL;
		*out = value == wanted;
		return 0;
	}
	if (!json_object_size(pattern))
		return error_value(e, w, pattern, "a value, or an object with an relation");
	json_object_foreach((json_t *)pattern, relation, operand) {
		struct where at = where_key(w, relation);
		bool holds = false;

		if (apply(relation, operand, value, scope, &at, &holds, e))
			return -EINVAL;
		*out = *out && holds;
	}
	return 0;
}

int pattern_check(const json_t *pattern, const struct scope *scope, const struct where *w,
		  struct error *e)
{
	bool ignored;

	return match(pattern, 0, scope, w, &ignored, e);
}

bool pattern_match(const json_t *pattern, uint64_t value, const struct scope *scope)
{
	struct where nowhere = {0};
	struct error e = {0};
	bool fits;

	return !match(pattern, value, scope, &nowhere, &fits, &e) && fits;
}
