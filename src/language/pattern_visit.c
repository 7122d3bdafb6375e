/* SPDX-License-Identifier: MIT */
/*
 * What a pattern on a list says of the list's elements.
 */
#include <string.h>

#include "language/one_or_list.h"
#include "language/pattern.h"
#include "language/pattern_operator.h"

struct visit {
	int (*visit)(void *, const json_t *, const struct where *);
	void *context;
};

/*
 * An operation on an element has members under not and ne alone.
 * NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern
 */
static int visit_element(const struct visit *v, const json_t *one, const struct where *w)
{
	const char *key = json_object_get(one, "not") ? "not" : "ne";
	struct where at = where_key(w, key);

	if (pattern_is_operation(one))
		return visit_element(v, json_object_get(one, key), &at);
	return json_is_object(one) ? v->visit(v->context, one, w) : 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern */
static int visit_operand(const struct visit *v, const char *key, const json_t *operand,
			 const struct where *w)
{
	enum operand_shape shape = pattern_operator(key, NULL)->shape;
	const json_t *one;
	int err = 0;

	if (!strcmp(key, "every"))
		return visit_element(v, operand, w);
	if (shape == PATTERN && strcmp(key, "length") != 0)
		return pattern_visit_elements(operand, v->visit, v->context, w);
	for (size_t i = 0; shape == PATTERNS && !err && (one = element(operand, i)); i++) {
		struct where at = json_is_array(operand) ? where_index(w, i) : *w;
		struct where at_of = where_key(&at, "of");
		bool counts = !strcmp(key, "times");

		err = visit_element(v, counts ? json_object_get(one, "of") : one,
				    counts ? &at_of : &at);
	}
	return err;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern */
int pattern_visit_elements(const json_t *pattern,
			   int (*visit)(void *, const json_t *, const struct where *),
			   void *context, const struct where *w)
{
	struct visit v = {visit, context};
	const char *key;
	json_t *operand;
	size_t i;
	int err = 0;

	json_array_foreach(pattern, i, operand) {
		struct where at = where_index(w, i);

		err = err ? err : visit_element(&v, operand, &at);
	}
	if (!pattern_is_operation(pattern))
		return err;
	json_object_foreach((json_t *)pattern, key, operand) {
		struct where at = where_key(w, key);

		err = err ? err : visit_operand(&v, key, operand, &at);
	}
	return err;
}
