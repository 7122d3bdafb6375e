/* SPDX-License-Identifier: MIT */
/*
 * Attrs, each with the ids of its events: what --attr reads, for records that come without them.
 */
#ifndef PERFABI_ATTR_LIST_H
#define PERFABI_ATTR_LIST_H

#include "abi/attr.h"

struct attr_ids {
	uint64_t *ids;
	size_t count;
};

struct attr_list {
	unsigned char *bytes; /* for each an attr in abi->attr_size bytes, in the host's order; its
			       * size is, where none is given, the smallest that will do */
	struct attr_ids *ids; /* for each, those of its events; none if nobody said */
	size_t count;
};

/*
 * Reads an object of attr fields, an object with "attr" and perhaps "ids", or a list of such. 0, or
 * a negative errno with `e` filled, which names `name` as the file. `vars` may be NULL: then there
 * are no $variables. Free with attr_list_free().
 */
int attr_list_read(struct attr_list *list, const struct abi *abi, const struct abi_arch *arch,
		   const char *text, const char *name, const struct vars *vars, struct error *e);

/* Whether the first attr has that field other than 0. */
bool attr_list_flag(const struct attr_list *list, const struct abi *abi, const char *field);
void attr_list_free(struct attr_list *list);

#endif
