/* SPDX-License-Identifier: MIT */
/*
 * The attrs of records that come without them, in JSON: what --attr reads and --attr-of prints.
 */
#ifndef PERFABI_ATTR_LIST_H
#define PERFABI_ATTR_LIST_H

#include "stream/events.h"
#include "text/out.h"

struct attr_list {
	json_t *json;         /* a list of {"attr": {...}, "ids": [...]} */
	unsigned char *bytes; /* for each an attr in abi->attr_size bytes, in the host's order; its
			       * size is, where none is given, the smallest that will do */
	size_t count;
};

/*
 * Reads an object of attr fields, an object with "attr" and perhaps "ids", or a list of such. 0, or
 * a negative errno with `e` filled, which names `name` as the file. `vars` may be NULL: then there
 * are no $variables. Free with attr_list_free().
 */
int attr_list_read(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		   const char *text, const char *name, const struct vars *vars, struct error *e);
int attr_list_add(const struct attr_list *list, struct events *events, struct error *e);

/* Writes the member "attrs". 0 or -ENOMEM. */
int attr_list_put(const struct attr_list *list, const struct events *events, struct out *out);

/* Whether the first attr has that field other than 0. */
bool attr_list_flag(const struct attr_list *list, const struct abi *abi, const char *field);
void attr_list_free(struct attr_list *list);

#endif
