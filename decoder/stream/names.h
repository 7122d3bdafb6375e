/* SPDX-License-Identifier: MIT */
/*
 * What events are called: as perf wrote it down (EVENT_DESC, EVENT_UPDATE) or simpleperf
 * (meta_info), or by their attr.
 */
#ifndef PERFABI_NAMES_H
#define PERFABI_NAMES_H

#include "abi/attr.h"
#include "stream/events.h"
#include "text/json.h"
#include "text/out.h"

enum { EVENT_NAME_MAX = 256, EVENT_TEXT_MAX = 512 }; /* a longer name is not taken */

struct event_name {
	char name[EVENT_NAME_MAX];
	bool is_by_attr;
	size_t length;
	char text[EVENT_TEXT_MAX + PUT_KEY]; /* "event":"cycles:u", as put_key() copies it */
};

/* Names the event by its attr, of `size` bytes in the events' order: "cpu-clock:u". 0 or -ENOMEM.
 */
int names_by_attr(struct events *events, int event, const unsigned char *attr, size_t size);

/*
 * By the feature section, or the record EVENT_UPDATE, of that value, from byte `from` on, if it
 * names events or the machine. 0 or -ENOMEM.
 */
int names_by(struct events *events, const struct abi_value *value, const unsigned char *bytes,
	     size_t from, size_t size);

/* Those that were named by their attr alone, by the formats of events->formats. 0 or -ENOMEM. */
int names_by_formats(struct events *events);

/* Writes the member "events": their names, by index. 0 or -ENOMEM. */
int names_put(const struct events *events, struct out *out);

#endif
