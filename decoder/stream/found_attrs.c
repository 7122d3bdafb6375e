/* SPDX-License-Identifier: MIT */
/*
 * Attrs -> a list of {"attr": {...}, "ids": [...]}.
 */
#include "stream/found_attrs.h"

#include <errno.h>
#include <stdio.h>

#include "abi/attr.h"

int found_attrs_add(struct found_attrs *found, const struct events *events,
		    const unsigned char *attr, size_t size)
{
	json_t *json, *ids;

	if (!found)
		return 0;
	if (!found->json)
		found->json = json_array();
	ids = found->ids = json_array();
	json = attr_to_json(events->abi, events->arch, attr, size, events->order);
	return json_array_append_new(found->json, json_pack("{s:o, s:o}", "attr", json, "ids", ids))
		       ? -ENOMEM
		       : 0;
}

/* jansson's integers end at 2^63 - 1. */
static json_t *id_json(uint64_t id)
{
	char text[24];

	if (id <= INT64_MAX)
		return json_integer((json_int_t)id);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)id);
	return json_string(text);
}

int found_attrs_add_id(struct found_attrs *found, uint64_t id)
{
	return found && json_array_append_new(found->ids, id_json(id)) ? -ENOMEM : 0;
}

int found_attrs_alone(struct found_attrs *found, const struct events *events,
		      const unsigned char *bytes, uint64_t size, char *message, size_t room)
{
	const struct abi *abi = events->abi;
	uint64_t says;

	if (size < abi->attr_smallest || size > FOUND_ATTR_MAX) {
		snprintf(message, room,
			 "neither a perf.data nor a struct perf_event_attr, which has %u to %d "
			 "bytes: here are %llu",
			 abi->attr_smallest, FOUND_ATTR_MAX, (unsigned long long)size);
		return -EINVAL;
	}
	says = load_word(bytes + 4, 4, events->order);
	/* No size is the oldest one's; more bytes than any attr has are something else. */
	if (says ? says < abi->attr_smallest || says > size : size > abi->attr_size) {
		snprintf(message, room,
			 "neither a perf.data nor a struct perf_event_attr in this byte order "
			 "(-B, -L): its size would be %llu, of %llu bytes",
			 (unsigned long long)says, (unsigned long long)size);
		return -EINVAL;
	}
	found->json = attr_to_json(abi, events->arch, bytes, (size_t)size, events->order);
	return found->json ? 0 : -ENOMEM;
}
