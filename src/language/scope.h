/* SPDX-License-Identifier: MIT */
/*
 * What `$name` stands for in a case: facts of the machine, and names that steps have bound.
 */
#ifndef PERFABI_SCOPE_H
#define PERFABI_SCOPE_H

#include "machine/environment.h"
#include "language/shape.h"
#include "abi/value.h"

enum { SCOPE_MAX = 64 };

struct scope {
	const struct environment *env; /* NULL while a case is only checked */
	bool checking;                 /* every known name is accepted, none has a value */
	bool *was_asked;               /* set when a name is looked up; or NULL */
	const void *unmapped;          /* an address at which nothing is mapped */
	struct binding {
		char name[VARIABLE_NAME];
		uint64_t value;           /* of a number */
		json_t *json;             /* of anything else, owned; or NULL */
		struct value_shape shape; /* while checking; kind 0: anything */
	} list[SCOPE_MAX];
	size_t count;
};

/*
 * Binds or rebinds. 0, -ENOSPC when full, -EINVAL for a name of a wrong form, -EEXIST for one that
 * is there without being bound.
 */
int scope_bind(struct scope *scope, const char *name, uint64_t value);

/* The same for a member of what has that name, as "e.id"; `member` is one word. */
int scope_bind_member(struct scope *scope, const char *name, const char *member, uint64_t value);

/* The same for an object, list or text, which it takes another reference to. */
int scope_bind_json(struct scope *scope, const char *name, json_t *json);

/*
 * While a case is only checked: what the value that this name stands for will look like, by which
 * `$name.member` is checked. What two steps bind that do not show the same can be anything. Errors
 * as of scope_bind().
 */
int scope_bind_shape(struct scope *scope, const char *name, const struct value_shape *shape);

/* The text or list that "$name" or "$name.member" stands for, borrowed; NULL if it is a number or
 * unknown. */
json_t *scope_json(const struct scope *scope, const char *name);

/* A copy that shares the JSON, with references of its own. */
void scope_copy(struct scope *to, const struct scope *from);
void scope_free(struct scope *scope);

/* The scope as value_eval() wants it. */
struct vars scope_vars(const struct scope *scope);

/*
 * The length of the name at the beginning of `text`, which stands behind a $ in a text: "tid" of
 * "tid/comm". What ends a sentence or a field is none of it.
 */
size_t scope_name_length(const char *text);

/* The length of NAME, of the n letters NAME or NAME.cpu that stand behind "pmu.". */
size_t scope_pmu_name_length(const char *name, size_t n);

/*
 * Writes `text` with each $name replaced by its text or decimal value. 0, -ENOENT for an unknown
 * name, or -ENOSPC when it does not fit.
 */
int scope_expand(const struct scope *scope, const char *text, char *out, size_t size);

/* The names that are there without being bound, one a line with its meaning. */
void scope_help(FILE *f);

#endif
