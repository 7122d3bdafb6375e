/* SPDX-License-Identifier: MIT */
/*
 * The header line of a perf.data, what the records behind it go by, and attrs in the form that
 * --attr takes.
 */
#ifndef PERFABI_PERFDATA_HEADER_H
#define PERFABI_PERFDATA_HEADER_H

#include "input/perfdata.h"
#include "stream/lines.h"

/*
 * Reads attrs and feature sections, adds the attrs to `events`, and writes the line `header` to
 * `out`. What is wrong there becomes diagnostics of `lines`. With events->found, what is behind the
 * attrs is not looked at. 0, or a negative errno: what was written by then is how the line begins.
 */
int perfdata_header_put(const struct perfdata *file, struct input *in, struct events *events,
			struct lines *lines, struct out *out);

/*
 * Adds the event of an attr of `size` bytes that stands at `offset`, and the attr to events->found,
 * if somebody asked. *event is its index, or negative after a diagnostic: it cannot be one. 0 or
 * -ENOMEM.
 */
int perfdata_header_add_attr(struct events *events, const unsigned char *attr, size_t size,
			     uint64_t offset, struct lines *lines, int *event);

/*
 * Adds an id of that event, and to the attr that events->found has last. *event becomes negative
 * after a diagnostic: there are too many. 0 or -ENOMEM.
 */
int perfdata_header_add_id(struct events *events, uint64_t id, struct place place,
			   struct lines *lines, int *event);

/* Adds each attr, and its ids. 0, or a negative errno with `e` filled. */
int given_attrs_add(const struct attr_list *list, struct events *events, struct error *e);

/* Writes the member "attrs". 0 or -ENOMEM. */
int given_attrs_put(const struct attr_list *list, const struct events *events, struct out *out);

/* Bytes of a recording's TRACING_DATA, and of any other section, that records may go by. */
enum { TRACING_DATA_MAX = 32 * 1024 * 1024 };

/* Takes formats of tracepoints from TRACING_DATA, as far as it is understood. 0 or -ENOMEM. */
int perfdata_header_take_formats(struct events *events, const unsigned char *bytes, size_t size);

/* Takes from a feature section what records go by: the machine, names of events. 0 or -ENOMEM. */
int perfdata_header_take_feature(struct events *events, uint64_t feature,
				 const unsigned char *bytes, size_t size);

#endif
