/* SPDX-License-Identifier: MIT */
/*
 * The types and fields that are wanted: names to what lines.h and plan.h take.
 */
#ifndef PERFABI_SELECT_H
#define PERFABI_SELECT_H

#include "stream/lines.h"

/* What is asked for by name; all zero: everything. */
struct selection_names {
	const char *const *types; /* in any case */
	size_t type_count;
	const char *const *fields; /* beside type */
	size_t field_count;
};

struct selection {
	struct lines_options lines;
	bool types[TYPES];
	const char **fields; /* of records; NULL: all */
	size_t field_count;
};

/* 0, or -EINVAL with `e` filled: a name that no record or member has. Free with selection_free().
 */
int selection_make(struct selection *s, const struct selection_names *names,
		   const struct events *events, struct error *e);
void selection_free(struct selection *s);

#endif
