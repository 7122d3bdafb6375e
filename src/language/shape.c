/* SPDX-License-Identifier: MIT */
/*
 * Patterns against shapes. The recursion is as deep as the pattern's JSON.
 */
#include "language/shape.h"

#include <errno.h>
#include <string.h>

#include "language/keys.h"
#include "language/pattern_operator.h"
#include "abi/value.h"

/* NOLINTBEGIN(misc-no-recursion) */

const struct member *member_named(const struct member *members, const char *name,
				  struct nearest *near)
{
	for (const struct member *m = members; m && m->name; m++) {
		if (!strcmp(m->name, name))
			return m;
		if (near)
			nearest_try(near, m->name);
	}
	return NULL;
}

static bool is_list(const struct value_shape *shape)
{
	return shape->kind == SHAPE_LIST || shape->kind == SHAPE_NAMES ||
	       shape->kind == SHAPE_RECORDS;
}

/* An element of records stays a list of records in its kind: its type decides on its members. */
static struct value_shape element_of(const struct value_shape *list)
{
	if (list->kind == SHAPE_NAMES)
		return (struct value_shape){.kind = SHAPE_TEXT};
	if (list->kind == SHAPE_RECORDS || (list->kind == SHAPE_LIST && list->members))
		return (struct value_shape){
			.kind = SHAPE_OBJECT, .members = list->members, .records = list->records};
	return (struct value_shape){.kind = SHAPE_ANY};
}

static const struct record_shape *record_named(const struct record_shapes *records,
					       const char *type, struct nearest *near)
{
	for (size_t i = 0; i < records->count; i++) {
		if (!strcmp(records->list[i].type, type))
			return &records->list[i];
		nearest_try(near, records->list[i].type);
	}
	return NULL;
}

/* A member of that record, or where it is not said which (NULL), of any. */
static const struct member *member_of_record(const struct record_shapes *records,
					     const struct record_shape *record, const char *name,
					     struct nearest *near)
{
	const struct member *found = member_named(records->common, name, NULL);

	if (!found && record)
		return member_named(record->members, name, near);
	for (size_t i = 0; !found && i < records->count; i++)
		found = member_named(records->list[i].members, name, near);
	return found;
}

/* Members that several types have are of one kind in each, or none is said. */
static struct value_shape shape_in_record(const struct record_shape *record,
					  const struct member *member)
{
	return record ? member->shape : (struct value_shape){.kind = SHAPE_ANY};
}

/* From a value to its element or member of that name; false where it can have none. */
static bool enter(struct value_shape *at, const char *word, struct nearest *near)
{
	static const struct value_shape any = {.kind = SHAPE_ANY};
	const struct member *found;

	if (!at->kind || at->kind == SHAPE_ANY) {
		*at = any;
		return true;
	}
	if (is_list(at)) {
		*at = element_of(at);
		return !word[strspn(word, "0123456789")];
	}
	if (at->kind != SHAPE_OBJECT)
		return false;
	if (at->records)
		found = member_of_record(at->records, NULL, word, near);
	else
		found = member_named(at->members, word, near);
	if (!found)
		found = member_named(at->more, word, near);
	if (!found)
		return !at->records && !at->members;
	*at = at->records ? any : found->shape;
	return true;
}

bool shape_has(const struct value_shape *shape, const char *path, struct nearest *near)
{
	struct value_shape at = *shape;
	bool has = true;

	while (has && *path) {
		size_t n = strcspn(path, ".");
		char word[VARIABLE_NAME];
		struct nearest meant;

		if (n >= sizeof(word))
			return false;
		memcpy(word, path, n);
		word[n] = '\0';
		meant = nearest_to(word);
		has = enter(&at, word, &meant);
		if (near)
			near->best = meant.best;
		path += n + (path[n] == '.');
	}
	return has;
}

static int check_record(const json_t *pattern, const struct record_shapes *records,
			const struct where *w, struct error *e)
{
	const char *name, *type = json_string_value(json_object_get(pattern, "type"));
	struct where at = where_key(w, "type");
	struct nearest near = nearest_to(type ? type : "");
	const struct record_shape *record = type ? record_named(records, type, &near) : NULL;
	json_t *value;

	if (type && !record)
		return error_name(e, &at, type, near.best, "a record of cases/abi");
	json_object_foreach((json_t *)pattern, name, value) {
		const struct member *member;
		struct value_shape shape;

		at = where_key(w, name);
		near = nearest_to(name);
		member = member_of_record(records, record, name, &near);
		if (!member)
			return error_name(e, &at, name, near.best, "a member of %s",
					  record ? record->type : "some record");
		shape = shape_in_record(record, member);
		if (shape_check(value, &shape, &at, e))
			return -EINVAL;
	}
	return 0;
}

static int check_members(const json_t *pattern, const struct value_shape *shape,
			 const struct where *w, struct error *e)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)pattern, name, value) {
		struct where at = where_key(w, name);
		struct nearest near = nearest_to(name);
		const struct member *member = member_named(shape->members, name, &near);

		if (!member)
			member = member_named(shape->more, name, &near);
		if (!member)
			return error_name(e, &at, name, near.best,
					  "a member that is shown here "
					  "(perfabi help steps)");
		if (shape_check(value, &member->shape, &at, e))
			return -EINVAL;
	}
	return 0;
}

static int check_elements(const json_t *patterns, const struct value_shape *list,
			  const struct where *w, struct error *e)
{
	struct value_shape shape = element_of(list);
	const json_t *one;

	for (size_t i = 0; (one = element(patterns, i)); i++) {
		struct where at = json_is_array(patterns) ? where_index(w, i) : *w;

		if (shape_check(one, &shape, &at, e))
			return -EINVAL;
	}
	return 0;
}

static const struct value_shape number_shape = {.kind = SHAPE_NUMBER};

static int check_counted(const json_t *operand, const struct value_shape *list,
			 const struct where *w, struct error *e)
{
	struct value_shape shape = element_of(list);
	const json_t *one;

	for (size_t i = 0; (one = element(operand, i)); i++) {
		struct where at = json_is_array(operand) ? where_index(w, i) : *w;

		if (shape_check(json_object_get(one, "of"), &shape, AT_KEY(&at, "of"), e) ||
		    shape_check(json_object_get(one, "is"), &number_shape, AT_KEY(&at, "is"), e))
			return -EINVAL;
	}
	return 0;
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
		return is_list(shape);
	default:
		return true;
	}
}

static const char *kind_text(const struct value_shape *shape)
{
	switch (shape->kind) {
	case SHAPE_NUMBER:
		return "a number";
	case SHAPE_TEXT:
		return "text";
	case SHAPE_TRUTH:
		return "true or false";
	case SHAPE_NAMES:
		return "a list of names";
	case SHAPE_OBJECT:
		return "an object";
	default:
		return "a list";
	}
}

static int any_variable(const void *context, const char *name, struct value *value,
			struct nearest *near)
{
	(void)context;
	(void)name;
	(void)near;
	*value = (struct value){.known = false};
	return 0;
}

/* The names in it were looked up with the pattern's form: pattern_check.c. */
static int check_number_text(const json_t *json, const struct where *w, struct error *e)
{
	static const struct vars any = {.lookup = any_variable};
	struct value value;

	return pattern_number(json, &any, w, &value, e);
}

/* Of a list of names, names; of a number, a number of bits. */
static int check_names_or_bits(const json_t *operand, const struct value_shape *shape,
			       const struct where *w, struct error *e)
{
	if (shape->kind == SHAPE_NUMBER)
		return check_number_text(operand, w, e);
	return shape->kind == SHAPE_NAMES && json_is_integer(operand)
		       ? error_value(e, w, operand, "names: this is a list of names")
		       : 0;
}

static int check_operator(const struct relation *op, const json_t *operand,
			  const struct value_shape *shape, const struct where *w, struct error *e)
{
	if (shape->kind != SHAPE_ANY && !is_about(op->about, shape))
		return error_name(e, w, op->name, NULL, "an operator that can hold of %s",
				  kind_text(shape));
	switch (op->operand) {
	case OPERAND_NAMES:
		return check_names_or_bits(operand, shape, w, e);
	case OPERAND_PATTERN:
		return shape_check(operand, shape, w, e);
	case OPERAND_ELEMENT:
	case OPERAND_ELEMENTS:
		return check_elements(operand, shape, w, e);
	case OPERAND_LENGTH:
		return shape_check(operand, &number_shape, w, e);
	case OPERAND_COUNTS:
		return check_counted(operand, shape, w, e);
	default:
		return 0;
	}
}

static int check_operation(const json_t *pattern, const struct value_shape *shape,
			   const struct where *w, struct error *e)
{
	const char *key;
	json_t *operand;

	json_object_foreach((json_t *)pattern, key, operand) {
		if (check_operator(pattern_operator(key, NULL), operand, shape, AT_KEY(w, key), e))
			return -EINVAL;
	}
	return 0;
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

int shape_check(const json_t *pattern, const struct value_shape *shape, const struct where *w,
		struct error *e)
{
	if (pattern_is_operation(pattern))
		return check_operation(pattern, shape, w, e);
	if (shape->kind == SHAPE_ANY)
		return 0;
	if (shape->kind == SHAPE_OBJECT && !shape->members && !shape->records &&
	    json_is_object(pattern))
		return 0;
	if (is_list(shape))
		return json_is_array(pattern) || can_equal(pattern, shape)
			       ? check_elements(json_is_array(pattern) ? pattern : NULL, shape, w,
						e)
			       : error_value(e, w, pattern,
					     "a list of patterns, or operators (perfabi help "
					     "patterns)");
	if (shape->kind == SHAPE_NUMBER && json_is_string(pattern))
		return check_number_text(pattern, w, e);
	if (json_is_object(pattern) && shape->kind == SHAPE_OBJECT)
		return shape->records ? check_record(pattern, shape->records, w, e)
				      : check_members(pattern, shape, w, e);
	if (json_object_size(pattern)) { /* of operators, but for one that is none */
		const char *key = json_object_iter_key(json_object_iter((json_t *)pattern));
		struct nearest near = nearest_to(key);

		pattern_operator(key, &near);
		return error_name(e, AT_KEY(w, key), key, near.best,
				  "an operator on %s (perfabi help patterns)", kind_text(shape));
	}
	return !json_is_object(pattern) && !json_is_array(pattern) && can_equal(pattern, shape)
		       ? 0
		       : error_value(e, w, pattern, "a pattern on %s (perfabi help patterns)",
				     kind_text(shape));
}

/* NOLINTEND(misc-no-recursion) */
