/* SPDX-License-Identifier: MIT */
/*
 * Events as the decoder takes them, and its findings as a step's error.
 */
#include "step/decode.h"

#include <stdlib.h>
#include <string.h>

#include "stream/values.h"
#include "text/json_text.h"

struct decode_by decode_by(const struct steps *run, const struct opened *const events[],
			   size_t count, struct error *e)
{
	return (struct decode_by){.abi = run->tables->abi,
				  .arch = run->tables->arch,
				  .events = events,
				  .count = count,
				  .error = e};
}

/* The attrs with their ids; false, and said, if there is no memory. */
static bool attrs_of(const struct decode_by *by, struct attr_list *list)
{
	size_t size = by->abi->attr_size;

	*list = (struct attr_list){.bytes = calloc(by->count, size),
				   .ids = calloc(by->count, sizeof(*list->ids))};
	for (size_t i = 0; list->bytes && list->ids && i < by->count; i++) {
		struct attr_ids *ids = &list->ids[list->count++];

		memcpy(list->bytes + i * size, by->events[i]->image, size);
		if (!by->events[i]->id)
			continue;
		ids->ids = malloc(sizeof(*ids->ids));
		if (!ids->ids)
			break;
		ids->ids[ids->count++] = by->events[i]->id;
	}
	if (list->bytes && list->ids && list->count == by->count &&
	    (!by->events[by->count - 1]->id || list->ids[by->count - 1].count))
		return true;
	attr_list_free(list);
	error_no_memory(by->error, by->where, "memory for attrs");
	return false;
}

/* What the decoder says, at the step's place. */
static void say(const struct decode_by *by, const struct error *e)
{
	if (e->no_memory)
		error_no_memory(by->error, by->where, e->expected);
	else
		error_text(by->error, by->where, e->got, "%s", e->expected);
}

/* The records, a new reference, unless there was a finding or what is `err`. */
static json_t *clean_records(const struct decode_by *by, struct values *values, int err,
			     const struct error *e)
{
	char *text = values->finding ? json_text(values->finding, JSON_COMPACT) : NULL;
	json_t *records = err || values->finding ? NULL : json_incref(values->records);

	if (err)
		say(by, e);
	else if (values->finding)
		error_text(by->error, by->where, text ? text : "a diagnostic",
			   "bytes that decode strictly");
	free(text);
	values_free(values);
	return records;
}

json_t *decode_records(const struct decode_by *by, const unsigned char *bytes, size_t size)
{
	struct attr_list attrs;
	struct values_by with = {by->abi, by->arch, &attrs, true};
	struct values values;
	struct error e = {0};
	json_t *records;
	int err;

	if (!attrs_of(by, &attrs))
		return NULL;
	err = values_of_records(&values, &with, bytes, size, &e);
	records = clean_records(by, &values, err, &e);
	attr_list_free(&attrs);
	return records;
}

/* The records of a ring; of the metadata page alone, none. */
static json_t *ring_records(const struct decode_by *by, const struct values_by *with,
			    const unsigned char *image, size_t size, size_t page_size)
{
	struct values values;
	struct error e = {0};
	int err;

	if (size < 2 * page_size)
		return json_array();
	err = values_of_ring(&values, with, image, size, &e);
	return clean_records(by, &values, err, &e);
}

json_t *decode_ring(const struct decode_by *by, const unsigned char *image, size_t size,
		    size_t page_size)
{
	struct attr_list attrs;
	struct values_by with = {by->abi, by->arch, &attrs, true};
	struct error e = {0};
	json_t *records, *page = NULL;

	if (!attrs_of(by, &attrs))
		return NULL;
	records = ring_records(by, &with, image, size, page_size);
	if (records) {
		page = values_of_page(&with, image, size, &e);
		if (!page)
			say(by, &e);
	}
	attr_list_free(&attrs);
	if (page)
		return json_pack("{s:o,s:o}", "page", page, "records", records);
	json_decref(records);
	return NULL;
}

json_t *decode_read(const struct decode_by *by, const unsigned char *bytes, size_t size)
{
	struct attr_list attrs;
	struct values_by with = {by->abi, by->arch, &attrs, true};
	struct error e = {0};
	json_t *members;

	if (!attrs_of(by, &attrs))
		return NULL;
	members = values_of_read(&with, bytes, size, &e);
	if (!members)
		say(by, &e);
	attr_list_free(&attrs);
	return members;
}
