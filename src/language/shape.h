/* SPDX-License-Identifier: MIT */
/*
 * What a value will look like that a step shows: by that a pattern is checked before anything runs,
 * so that a member that can never be there is an error and no test that always passes.
 */
#ifndef PERFABI_SHAPE_H
#define PERFABI_SHAPE_H

#include "text/error.h"

/* Of a value. */
enum shape_kind {
	SHAPE_ANY = 1,
	SHAPE_NUMBER, /* or "0x..." */
	SHAPE_TEXT,
	SHAPE_TRUTH,  /* true or false */
	SHAPE_NAMES,  /* a list of names */
	SHAPE_OBJECT, /* with no other members than these */
	SHAPE_LIST,   /* of such objects; without members, of anything */
	SHAPE_RECORDS /* a list of records */
};

struct value_shape {
	enum shape_kind kind;
	const struct member *members; /* the last has no name; NULL: any */
	const struct record_shapes *records;
	const struct member *more; /* of an object that has some of its own and some of a layout */
};

struct member {
	const char *name;
	struct value_shape shape;
	const char *help; /* or NULL */
};

/* What records can have. */
struct record_shapes {
	struct record_shape {
		char type[32]; /* as the decoder writes it: "MMAP2" */
		struct member *members;
	} * list;
	size_t count;
	const struct member *common; /* of every record */
};

bool shape_is_list(const struct value_shape *shape);

/* In words: "a list". */
const char *shape_text(const struct value_shape *shape);

/* What its elements are like. An element of records has the members of any of them: its type
 * decides.
 */
struct value_shape shape_element(const struct value_shape *list);

/* The records of that type, or NULL; `near` is offered all types. */
const struct record_shape *record_named(const struct record_shapes *records, const char *type,
					struct nearest *near);

/*
 * What the member of that name is like, of an object or of a record (NULL: of any). False: it can
 * have none of that name, and `near` was offered those that it can have.
 */
bool shape_member(const struct value_shape *shape, const struct record_shape *record,
		  const char *name, struct nearest *near, struct value_shape *out);

/*
 * Whether a value of that shape can have what `path` names: members and indexes joined by dots;
 * nothing is the value itself. Where it cannot, near->best (`near` may be NULL) is the member that
 * may have been meant.
 */
bool shape_has(const struct value_shape *shape, const char *path, struct nearest *near);

/* The member of that name, or NULL; `near` is offered all. */
const struct member *member_named(const struct member *members, const char *name,
				  struct nearest *near);

#endif
