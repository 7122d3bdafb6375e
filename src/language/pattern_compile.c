/* SPDX-License-Identifier: MIT */
/*
 * Compiling patterns: all that can be said to be wrong before anything is matched. The recursion is
 * as deep as the pattern's JSON.
 */
#include <errno.h>
#include <string.h>

#include "language/merge.h"
#include "language/pattern.h"
#include "text/json_text.h"

/* NOLINTBEGIN(misc-no-recursion) */

struct compiler {
	struct scope *scope;
	struct arena *arena;
	struct error *error;
	json_t *own; /* names that the pattern binds, as keys */
};

static const struct value_shape any_shape = {.kind = SHAPE_ANY},
				number_shape = {.kind = SHAPE_NUMBER};

static int compile(struct compiler *c, struct pattern *p, const json_t *json,
		   const struct value_shape *shape, const struct where *w);

static void make_parts(struct compiler *c, struct pattern *p, size_t count)
{
	p->parts = or_exit(arena_array(c->arena, count + 1, sizeof(*p->parts)));
	p->count = count;
}

static int check_text(struct compiler *c, struct pattern *p, const char *text,
		      const struct where *w)
{
	struct vars vars = scope_vars(c->scope);

	for (const char *at = strchr(text, '$'); at; at = strchr(at + 1, '$')) {
		char name[VARIABLE_NAME];
		struct nearest near;
		struct value value;

		snprintf(name, sizeof(name), "%.*s", (int)scope_name_length(at + 1), at + 1);
		near = nearest_to(name);
		if (vars.lookup(vars.context, name, &value, &near))
			return error_name(
				c->error, w, name, near.best,
				"a variable known here, after the $ (perfabi help variables)");
		name[strcspn(name, ".")] = '\0';
		p->is_own = p->is_own || json_object_get(c->own, name);
	}
	return 0;
}

/* "0x5" and "$n+5" are numbers, 5 in quotes is a mistake. */
static int number_operand(struct compiler *c, struct pattern *p, const json_t *json,
			  const struct where *w, struct value *value)
{
	const char *text = json_string_value(json);
	struct vars vars = scope_vars(c->scope);

	p->json = json;
	if (text && text[0] && !text[strspn(text, "0123456789")])
		return error_value(c->error, w, json, "a number, without quotes");
	if (value_eval(json, NULL, &vars, w, value, c->error))
		return -EINVAL;
	return text ? check_text(c, p, text, w) : 0;
}

static int compile_pair(struct compiler *c, struct pattern *p, const json_t *operand,
			const struct where *w)
{
	struct value value[2];

	if (json_array_size(operand) != 2)
		return error_value(c->error, w, operand, "[lowest, highest]");
	make_parts(c, p, 2);
	for (size_t i = 0; i < 2; i++)
		if (number_operand(c, &p->parts[i], json_array_get(operand, i), w, &value[i]))
			return -EINVAL;
	if (value[0].known && value[1].known && value_compare(&value[0], &value[1]) > 0)
		return error_value(c->error, w, operand,
				   "[lowest, highest]: nothing is between these");
	return 0;
}

/* Of a list of names, names; of a number, a number of bits. */
static int check_names(struct compiler *c, struct pattern *p, const json_t *operand,
		       const struct value_shape *shape, const struct where *w)
{
	bool good = elements(operand) > 0;
	struct value value;

	for (size_t i = 0; json_is_array(operand) && i < elements(operand); i++)
		good = good && json_is_string(element(operand, i));
	if (!json_is_array(operand))
		good = json_is_string(operand) || json_is_integer(operand);
	if (!good)
		return error_value(c->error, w, operand, "names, or a number of bits");
	if (shape->kind == SHAPE_NUMBER)
		return number_operand(c, p, operand, w, &value);
	return shape->kind == SHAPE_NAMES && json_is_integer(operand)
		       ? error_value(c->error, w, operand, "names: this is a list of names")
		       : 0;
}

/* Of how many there are, which is never below 0: a bound that each number keeps says nothing. */
static int compile_count(struct compiler *c, struct pattern *p, const json_t *json,
			 const struct where *w)
{
	static const char *const least[] = {"ge", "gt"};
	int err = compile(c, p, json, &number_shape, w);

	for (size_t i = 0; !err && i < 2; i++) {
		const json_t *bound = json_object_get(json, least[i]);
		const struct value lowest = value_of_s64(-(int64_t)i);
		struct pattern ignored;
		struct value value;

		if (!bound)
			continue;
		err = number_operand(c, &ignored, bound, AT_KEY(w, least[i]), &value);
		if (!err && value.known && value_compare(&value, &lowest) <= 0)
			err = error_value(c->error, AT_KEY(w, least[i]), bound,
					  "a bound that not every number of elements keeps");
	}
	return err;
}

/* {"of": pattern, "is": how many fit}. */
static int compile_times(struct compiler *c, struct pattern *p, const json_t *json,
			 const struct value_shape *shape, const struct where *w)
{
	const json_t *of = json_object_get(json, "of"), *is = json_object_get(json, "is");

	if (!of || !is || json_object_size(json) != 2)
		return error_value(c->error, w, json, "of, a pattern, and is, how many fit");
	make_parts(c, p, 2);
	*p = (struct pattern){PATTERN_MEMBERS, json, NULL, NULL, p->parts, 2, false};
	p->parts[0].key = "of";
	p->parts[1].key = "is";
	if (compile(c, &p->parts[0], of, shape, AT_KEY(w, "of")))
		return -EINVAL;
	return compile_count(c, &p->parts[1], is, AT_KEY(w, "is"));
}

/* An operand that is a pattern on elements or a list of such. */
static int compile_each(struct compiler *c, struct pattern *p, const json_t *operand,
			const struct value_shape *list, const struct where *w)
{
	struct value_shape shape = shape_element(list);
	bool are_counts = p->op->operand == OPERAND_COUNTS;
	int err = 0;

	if (!elements(operand) && strcmp(p->op->name, "exactly") != 0)
		return error_value(c->error, w, operand,
				   "at least one %s: any list would match none",
				   are_counts ? "count" : "pattern");
	make_parts(c, p, elements(operand));
	for (size_t i = 0; !err && i < p->count; i++) {
		struct where at = json_is_array(operand) ? where_index(w, i) : *w;

		err = (are_counts ? compile_times : compile)(c, &p->parts[i], element(operand, i),
							     &shape, &at);
	}
	return err;
}

/* Whether an operator can hold of what is of that kind. */
static bool is_about(enum about about, const struct value_shape *shape)
{
	switch (about) {
	case ABOUT_NUMBER:
		return shape->kind == SHAPE_NUMBER;
	case ABOUT_BITS:
		return shape->kind == SHAPE_NUMBER || shape->kind == SHAPE_NAMES;
	case ABOUT_TEXT: /* "0x..." is text, too */
		return shape->kind == SHAPE_TEXT || shape->kind == SHAPE_NUMBER;
	case ABOUT_LIST:
		return shape_is_list(shape);
	default:
		return true;
	}
}

static int compile_operation(struct compiler *c, struct pattern *p, const json_t *operand,
			     const struct value_shape *shape, const struct where *w)
{
	const char *text = json_string_value(operand);
	struct value_shape element;
	struct value value;

	if (shape->kind != SHAPE_ANY && !is_about(p->op->about, shape))
		return error_name(c->error, w, p->op->name, NULL, "an operator that can hold of %s",
				  shape_text(shape));
	switch (p->op->operand) {
	case OPERAND_NAMES:
		return check_names(c, p, operand, shape, w);
	case OPERAND_TRUTH:
		return json_is_boolean(operand)
			       ? 0
			       : error_value(c->error, w, operand, "true or false");
	case OPERAND_TEXT:
		return text ? check_text(c, p, text, w)
			    : error_value(c->error, w, operand, "a text");
	case OPERAND_NAME:
		if (!text || scope_bind(c->scope, text, 0))
			return error_value(c->error, w, operand, "a name of a-z, 0-9 and _");
		json_object_set_new(c->own, text, json_true());
		return 0;
	case OPERAND_PAIR:
		return compile_pair(c, p, operand, w);
	case OPERAND_ELEMENTS:
	case OPERAND_COUNTS:
		return compile_each(c, p, operand, shape, w);
	default:
		break;
	}
	make_parts(c, p, 1);
	if (p->op->operand == OPERAND_NUMBER)
		return number_operand(c, p->parts, operand, w, &value);
	if (p->op->operand == OPERAND_LENGTH)
		return compile_count(c, p->parts, operand, w);
	element = shape_element(shape);
	return compile(c, p->parts, operand, p->op->operand == OPERAND_ELEMENT ? &element : shape,
		       w);
}

static int compile_operators(struct compiler *c, struct pattern *p, const json_t *json,
			     const struct value_shape *shape, const struct where *w)
{
	struct pattern *part = p->parts;
	const char *key;
	json_t *operand;

	p->kind = PATTERN_OPERATORS;
	json_object_foreach((json_t *)json, key, operand) {
		struct nearest near = nearest_to(key);

		*part = (struct pattern){.kind = PATTERN_OPERATOR, .json = operand, .key = key};
		part->op = pattern_operator(key, &near);
		if (!part->op)
			return error_name(c->error, AT_KEY(w, key), key, near.best,
					  "operators alone (perfabi help patterns)");
		if (compile_operation(c, part++, operand, shape, AT_KEY(w, key)))
			return -EINVAL;
	}
	return 0;
}

/* What the member of that name is like; false with the error filled if there can be none. */
static bool shape_of_member(struct compiler *c, const struct value_shape *shape,
			    const json_t *object, const char *name, const struct where *w,
			    struct value_shape *out)
{
	const char *type = json_string_value(json_object_get(object, "type"));
	const struct record_shape *record = NULL;
	struct nearest near = nearest_to(shape->records && type ? type : name);

	if (shape->records && type) {
		record = record_named(shape->records, type, &near);
		if (!record) {
			error_name(c->error, AT_KEY(w->up, "type"), type, near.best,
				   "a record of cases/abi");
			return false;
		}
		near = nearest_to(name);
	}
	if (shape_member(shape, record, name, &near, out))
		return true;
	if (shape->records)
		error_name(c->error, w, name, near.best, "a member of %s",
			   record ? record->type : "some record");
	else
		error_name(c->error, w, name, near.best,
			   "a member that is shown here (perfabi help steps)");
	return false;
}

static int compile_members(struct compiler *c, struct pattern *p, const json_t *json,
			   const struct value_shape *shape, const struct where *w)
{
	struct pattern *part = p->parts;
	const char *key;
	json_t *value;

	p->kind = PATTERN_MEMBERS;
	json_object_foreach((json_t *)json, key, value) {
		struct where at = where_key(w, key);
		struct value_shape member = any_shape;

		part->key = key;
		if ((shape->members || shape->records) &&
		    !shape_of_member(c, shape, json, key, &at, &member))
			return -EINVAL;
		if (compile(c, part++, value, &member, &at))
			return -EINVAL;
	}
	return 0;
}

static int compile_pattern_object(struct compiler *c, struct pattern *p, const json_t *json,
				  const struct value_shape *shape, const struct where *w)
{
	const char *first = json_object_iter_key(json_object_iter((json_t *)json));
	struct nearest near = nearest_to(first ? first : "");

	if (!first)
		return error_value(c->error, w, json, "a value, members, or operators");
	make_parts(c, p, json_object_size(json));
	if (pattern_operator(first, &near))
		return compile_operators(c, p, json, shape, w);
	if (shape_is_list(shape))
		return error_value(c->error, w, json,
				   "a list of patterns, or operators (perfabi help patterns)");
	if (shape->kind != SHAPE_ANY && shape->kind != SHAPE_OBJECT)
		return error_name(c->error, AT_KEY(w, first), first, near.best,
				  "an operator on %s (perfabi help patterns)", shape_text(shape));
	return compile_members(c, p, json, shape, w);
}

static int compile_elements(struct compiler *c, struct pattern *p, const json_t *json,
			    const struct value_shape *list, const struct where *w)
{
	struct value_shape shape = shape_element(list);
	int err = 0;

	make_parts(c, p, json_array_size(json));
	p->kind = PATTERN_ELEMENTS;
	if (list->kind != SHAPE_ANY && !shape_is_list(list))
		return error_value(c->error, w, json, "a pattern on %s (perfabi help patterns)",
				   shape_text(list));
	for (size_t i = 0; !err && i < p->count; i++)
		err = compile(c, &p->parts[i], json_array_get(json, i), &shape, AT_INDEX(w, i));
	return err;
}

/* A value in itself, where one can be: a "$name" stands for anything. */
static bool can_equal(const json_t *value, const struct value_shape *shape)
{
	const char *text = json_string_value(value);

	if (shape->kind == SHAPE_ANY || (text && text[0] == '$'))
		return true;
	if (shape->kind == SHAPE_TRUTH)
		return json_is_boolean(value);
	return shape->kind == SHAPE_NUMBER ? json_is_integer(value)
					   : shape->kind == SHAPE_TEXT && text;
}

static int compile(struct compiler *c, struct pattern *p, const json_t *json,
		   const struct value_shape *shape, const struct where *w)
{
	const char *text = json_string_value(json);
	struct value value;

	p->json = json;
	if (json_is_object(json))
		return compile_pattern_object(c, p, json, shape, w);
	if (json_is_array(json))
		return compile_elements(c, p, json, shape, w);
	if (!json || json_is_null(json) || json_is_real(json))
		return error_value(c->error, w, json, "a value, members, or operators");
	if (text && check_text(c, p, text, w))
		return -EINVAL;
	if (text && shape->kind == SHAPE_NUMBER)
		return number_operand(c, p, json, w, &value);
	if (can_equal(json, shape))
		return 0;
	return shape_is_list(shape)
		       ? error_value(c->error, w, json,
				     "a list of patterns, or operators (perfabi help patterns)")
		       : error_value(c->error, w, json, "a pattern on %s (perfabi help patterns)",
				     shape_text(shape));
}

/* NOLINTEND(misc-no-recursion) */

struct pattern *pattern_compile(const json_t *json, const struct value_shape *shape,
				struct scope *scope, struct arena *arena, const struct where *w,
				struct error *e)
{
	struct compiler c = {scope, arena, e, json_object()};
	struct pattern *p = or_exit(arena_alloc(arena, sizeof(*p)));

	if (compile(&c, p, json, shape, w))
		p = NULL;
	json_decref(c.own);
	return p;
}
