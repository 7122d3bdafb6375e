/* SPDX-License-Identifier: MIT */
/*
 * Shapes of values: what they can have.
 */
#include "language/shape.h"

#include <string.h>

#include "abi/value.h"

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

bool shape_is_list(const struct value_shape *shape)
{
	return shape->kind == SHAPE_LIST || shape->kind == SHAPE_NAMES ||
	       shape->kind == SHAPE_RECORDS;
}

struct value_shape shape_element(const struct value_shape *list)
{
	if (list->kind == SHAPE_NAMES)
		return (struct value_shape){.kind = SHAPE_TEXT};
	if (list->kind == SHAPE_RECORDS || (list->kind == SHAPE_LIST && list->members))
		return (struct value_shape){
			.kind = SHAPE_OBJECT, .members = list->members, .records = list->records};
	return (struct value_shape){.kind = SHAPE_ANY};
}

const struct record_shape *record_named(const struct record_shapes *records, const char *type,
					struct nearest *near)
{
	for (size_t i = 0; i < records->count; i++) {
		if (!strcmp(records->list[i].type, type))
			return &records->list[i];
		nearest_try(near, records->list[i].type);
	}
	return NULL;
}

bool shape_member(const struct value_shape *shape, const struct record_shape *record,
		  const char *name, struct nearest *near, struct value_shape *out)
{
	const struct record_shapes *records = shape->records;
	const struct member *found = records ? member_named(records->common, name, NULL)
					     : member_named(shape->members, name, near);

	if (!found && record)
		found = member_named(record->members, name, near);
	for (size_t i = 0; !found && records && !record && i < records->count; i++)
		found = member_named(records->list[i].members, name, near);
	if (!found)
		found = member_named(shape->more, name, near);
	/* Members that several types have are of one kind in each, or none is said. */
	if (found)
		*out = records && !record ? (struct value_shape){.kind = SHAPE_ANY} : found->shape;
	return found != NULL;
}

const char *shape_text(const struct value_shape *shape)
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

/* From a value to its element or member of that name; false where it can have none. */
static bool enter(struct value_shape *at, const char *word, struct nearest *near)
{
	if (shape_is_list(at)) {
		*at = shape_element(at);
		return !word[strspn(word, "0123456789")];
	}
	if (!at->kind || at->kind == SHAPE_ANY)
		return true;
	if (at->kind != SHAPE_OBJECT)
		return false;
	if (shape_member(at, NULL, word, near, at))
		return true;
	if (at->records || at->members)
		return false;
	at->kind = SHAPE_ANY;
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
