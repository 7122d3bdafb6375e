/* SPDX-License-Identifier: MIT */
/*
 * The attrs that a recording has, each with its ids, as JSON that --attr takes.
 */
#ifndef PERFABI_FOUND_ATTRS_H
#define PERFABI_FOUND_ATTRS_H

#include <jansson.h>

#include "abi/attr.h"
#include "stream/events.h"
#include "text/out.h"

struct found_attrs {
	json_t *json; /* a list; or one attr, if that was all. NULL: none yet. json_decref() it */
	json_t *ids;  /* those of the last one, in the list */
};

/*
 * Adds the attr in `size` bytes, in the events' byte order and with the register names of their
 * machine, to events->found, if somebody asked. 0 or -ENOMEM.
 */
int found_attrs_add(const struct events *events, const unsigned char *attr, size_t size);

/* Adds each attr, and its ids. 0, or a negative errno with `e` filled. */
int given_attrs_add(const struct attr_list *list, struct events *events, struct error *e);

/* Writes the member "attrs". 0 or -ENOMEM. */
int given_attrs_put(const struct attr_list *list, const struct events *events, struct out *out);

#endif
