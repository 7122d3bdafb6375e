/* SPDX-License-Identifier: MIT */
/*
 * The attrs of --attr: as the events of a recording that has none, and in its header line.
 */
#ifndef PERFABI_GIVEN_ATTRS_H
#define PERFABI_GIVEN_ATTRS_H

#include "abi/attr_list.h"
#include "stream/events.h"
#include "text/out.h"

/* Adds each attr, and its ids. 0, or a negative errno with `e` filled. */
int given_attrs_add(const struct attr_list *list, struct events *events, struct error *e);

/* Writes the member "attrs". 0 or -ENOMEM. */
int given_attrs_put(const struct attr_list *list, const struct events *events, struct out *out);

#endif
