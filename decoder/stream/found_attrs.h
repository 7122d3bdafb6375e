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

enum { FOUND_ATTR_MAX = 65536 }; /* bytes of one attr alone */

/*
 * Takes an input of `size` bytes, the first FOUND_ATTR_MAX of which are at `bytes`, for those of
 * one attr, if the size that they say they have allows it. 0, -ENOMEM, or -EINVAL with a sentence
 * in `message`, which has room for `room` bytes.
 */
int found_attrs_alone(struct found_attrs *found, const struct events *events,
		      const unsigned char *bytes, uint64_t size, char *message, size_t room);

/* Adds each attr, and its ids. 0, or a negative errno with `e` filled. */
int given_attrs_add(const struct attr_list *list, struct events *events, struct error *e);

/* Writes the member "attrs". 0 or -ENOMEM. */
int given_attrs_put(const struct attr_list *list, const struct events *events, struct out *out);

#endif
