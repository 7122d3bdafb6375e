/* SPDX-License-Identifier: MIT */
#include "stream/found_attrs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "abi/attr.h"
#include "stream/names.h"

int found_attrs_add(const struct events *events, const unsigned char *attr, size_t size)
{
	struct found_attrs *found = events->found;
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

int given_attrs_add(const struct attr_list *list, struct events *events, struct error *e)
{
	enum byte_order order = events->order;
	size_t size = events->abi->attr_size;
	int err = 0;

	for (size_t i = 0; i < list->count && !err; i++) {
		int event;

		events->order = host_order();
		event = events_add(events, list->bytes + i * size, size, e);
		err = event < 0 ? event
				: names_by_attr(events, event, list->bytes + i * size, size);
		events->order = order;
		for (size_t k = 0; k < list->ids[i].count && !err; k++)
			err = events_add_id(events, list->ids[i].ids[k], event);
		if (err == -E2BIG)
			err = error_text(e, NULL, "more", "at most %d ids", IDS_MAX);
	}
	return err;
}

int given_attrs_put(const struct attr_list *list, const struct events *events, struct out *out)
{
	size_t size = events->abi->attr_size;
	int err = out_text(out, "\"attrs\":[");

	for (size_t i = 0; i < list->count && !err; i++) {
		const struct attr_ids *ids = &list->ids[i];
		char *text = attr_to_text(events->abi, events->arch, list->bytes + i * size, size,
					  host_order());

		out_text(out, i ? ",{\"attr\":" : "{\"attr\":");
		err = text ? out_text(out, text) : -ENOMEM;
		free(text);
		for (size_t k = 0; k < ids->count; k++) /* as --attr takes them back */
			out_format(out,
				   ids->ids[k] <= INT64_MAX ? "%s%" PRIu64 : "%s\"0x%" PRIx64 "\"",
				   k ? "," : ",\"ids\":[", ids->ids[k]);
		out_text(out, ids->count ? "]}" : "}");
	}
	err = err ? err : out_text(out, "]");
	return err ? err : names_put(events, out);
}
