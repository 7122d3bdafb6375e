/* SPDX-License-Identifier: MIT */
/*
 * The form of patterns: what can be said to be wrong before anything is matched.
 */
#include <errno.h>
#include <string.h>

#include "language/one_or_list.h"
#include "language/pattern.h"
#include "language/pattern_operator.h"

int pattern_number(const json_t *json, const struct vars *vars, const struct where *w,
		   struct value *value, struct error *e)
{
	const char *text = json_string_value(json);

	if (text && text[0] && !text[strspn(text, "0123456789")])
		return error_value(e, w, json, "a number, which stands without quotes");
	return value_eval(json, NULL, vars, w, value, e);
}

static int check_number(const json_t *operand, const struct scope *scope, const struct where *w,
			struct value *value, struct error *e)
{
	struct vars vars = scope_vars(scope);

	return pattern_number(operand, &vars, w, value, e);
}

static int check_pair(const json_t *operand, const struct scope *scope, const struct where *w,
		      struct error *e)
{
	struct value lowest, highest;

	if (json_array_size(operand) != 2)
		return error_value(e, w, operand, "[lowest, highest]");
	if (check_number(json_array_get(operand, 0), scope, w, &lowest, e) ||
	    check_number(json_array_get(operand, 1), scope, w, &highest, e))
		return -EINVAL;
	if (lowest.known && highest.known && value_compare(&lowest, &highest) > 0)
		return error_value(e, w, operand, "[lowest, highest]: nothing is between these");
	return 0;
}

static int check_patterns(const json_t *operand, struct scope *scope, const struct where *w,
			  struct error *e)
{
	const json_t *one;

	for (size_t i = 0; (one = element(operand, i)); i++) {
		struct where at = json_is_array(operand) ? where_index(w, i) : *w;

		if (pattern_check(one, scope, &at, e))
			return -EINVAL;
	}
	return 0;
}

/* Of how many there are, which is never below 0: a bound that each number keeps says nothing. */
static int check_count(const json_t *pattern, struct scope *scope, const struct where *w,
		       struct error *e)
{
	static const char *const least[] = {"ge", "gt"};
	int err = pattern_check(pattern, scope, w, e);

	for (size_t i = 0; !err && i < 2; i++) {
		const json_t *bound = json_object_get(pattern, least[i]);
		const struct value lowest = value_of_s64(-(int64_t)i);
		struct where at = where_key(w, least[i]);
		struct value value;

		if (!bound)
			continue;
		err = check_number(bound, scope, &at, &value, e);
		if (!err && value.known && value_compare(&value, &lowest) <= 0)
			err = error_value(e, &at, bound,
					  "a bound that not every number of elements keeps");
	}
	return err;
}

/* {"of": pattern, "is": how many fit}, or a list of these. */
static int check_counts(const json_t *operand, struct scope *scope, const struct where *w,
			struct error *e)
{
	const json_t *one;

	if (!elements(operand))
		return error_value(e, w, operand,
				   "at least one count: whatever is shown fits none at all");
	for (size_t i = 0; (one = element(operand, i)); i++) {
		struct where at = json_is_array(operand) ? where_index(w, i) : *w;
		const json_t *of = json_object_get(one, "of"), *is = json_object_get(one, "is");

		if (!of || !is || json_object_size(one) != 2)
			return error_value(e, &at, one, "of, a pattern, and is, how many fit");
		if (pattern_check(of, scope, AT_KEY(&at, "of"), e) ||
		    check_count(is, scope, AT_KEY(&at, "is"), e))
			return -EINVAL;
	}
	return 0;
}

/* Whether a text is a name or a number's expression hangs on what it is held against: shape.c. */
static int check_names(const json_t *operand, const struct where *w, struct error *e)
{
	bool good = elements(operand) > 0;

	for (size_t i = 0; json_is_array(operand) && i < elements(operand); i++)
		good = good && json_is_string(element(operand, i));
	if (!json_is_array(operand))
		good = json_is_string(operand) || json_is_integer(operand);
	return good ? 0 : error_value(e, w, operand, "names, or a number of bits");
}

static int check_text(const json_t *pattern, const struct scope *scope, const struct where *w,
		      struct error *e)
{
	const char *at = strchr(json_string_value(pattern), '$');
	struct vars vars = scope_vars(scope);

	for (; at; at = strchr(at + 1, '$')) {
		char name[VARIABLE_NAME];
		size_t n = scope_name_length(at + 1);
		struct nearest near;
		struct value value;

		snprintf(name, sizeof(name), "%.*s", (int)n, at + 1);
		near = nearest_to(name);
		if (vars.lookup(vars.context, name, &value, &near))
			return error_name(
				e, w, name, near.best,
				"a variable known here, after the $ (perfabi help variables)");
	}
	return 0;
}

static int check_operand(const struct relation *op, const json_t *operand, struct scope *scope,
			 const struct where *w, struct error *e)
{
	struct value value;

	switch (op->operand) {
	case OPERAND_NUMBER:
		return check_number(operand, scope, w, &value, e);
	case OPERAND_PAIR:
		return check_pair(operand, scope, w, e);
	case OPERAND_NAMES:
		return check_names(operand, w, e);
	case OPERAND_TRUTH:
		return json_is_boolean(operand) ? 0 : error_value(e, w, operand, "true or false");
	case OPERAND_TEXT:
		return json_is_string(operand) ? check_text(operand, scope, w, e)
					       : error_value(e, w, operand, "a text");
	case OPERAND_NAME:
		if (!json_is_string(operand) || scope_bind(scope, json_string_value(operand), 0))
			return error_value(e, w, operand, "a name of a-z, 0-9 and _");
		return 0;
	case OPERAND_LENGTH:
		return check_count(operand, scope, w, e);
	case OPERAND_ELEMENTS:
		if (!elements(operand) && strcmp(op->name, "exactly") != 0)
			return error_value(
				e, w, operand,
				"at least one pattern: whatever is shown fits none at all");
		return check_patterns(operand, scope, w, e);
	case OPERAND_COUNTS:
		return check_counts(operand, scope, w, e);
	default:
		return pattern_check(operand, scope, w, e);
	}
}

static int check_operators(const json_t *pattern, struct scope *scope, const struct where *w,
			   struct error *e)
{
	const char *key;
	json_t *operand;

	json_object_foreach((json_t *)pattern, key, operand) {
		struct nearest near = nearest_to(key);
		const struct relation *op = pattern_operator(key, &near);
		struct where at = where_key(w, key);

		if (!op)
			return error_name(e, &at, key, near.best,
					  "operators alone (perfabi help patterns)");
		if (check_operand(op, operand, scope, &at, e))
			return -EINVAL;
	}
	return 0;
}

int pattern_check(const json_t *pattern, struct scope *scope, const struct where *w,
		  struct error *e)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_object(pattern) && !json_object_size(pattern))
		return error_value(e, w, pattern, "a value, members, or operators");
	if (pattern_is_operation(pattern))
		return check_operators(pattern, scope, w, e);
	json_object_foreach((json_t *)pattern, key, item) {
		struct where at = where_key(w, key);

		if (pattern_check(item, scope, &at, e))
			return -EINVAL;
	}
	json_array_foreach(pattern, i, item) {
		struct where at = where_index(w, i);

		if (pattern_check(item, scope, &at, e))
			return -EINVAL;
	}
	if (json_is_string(pattern))
		return check_text(pattern, scope, w, e);
	if (!pattern || json_is_null(pattern) || json_is_real(pattern))
		return error_value(e, w, pattern, "a value, members, or operators");
	return 0;
}

int pattern_check_number(const json_t *pattern, struct scope *scope, const struct where *w,
			 struct error *e)
{
	if (!json_object_size(pattern) || pattern_is_operation(pattern))
		return pattern_check(pattern, scope, w, e);
	return check_operators(pattern, scope, w, e);
}
