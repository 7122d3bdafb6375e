/* SPDX-License-Identifier: MIT */
/*
 * Lines, as for everybody, but to memory; then each is the value that it says.
 */
#include "stream/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/record.h"
#include "stream/decode.h"

static int no_memory_for_values(struct error *e)
{
	return error_no_memory(e, NULL, "memory for records");
}

/* Decodes to lines: diagnostics and records alone. 0, or a negative errno with `e` filled. */
static int decode_memory(struct decoder *d, const struct values_by *by, const unsigned char *bytes,
			 size_t size, struct error *e)
{
	struct lines_sums sums;
	int err;

	err = input_open_memory(&d->in, bytes, size);
	if (!err)
		err = decoder_start(d);
	if (err)
		return err;
	d->attrs = by->attrs;
	err = decoder_find_format(d, e);
	if (!err)
		err = decoder_begin(d, e);
	if (!err)
		err = decoder_records(d);
	return decoder_end(d, err, &sums);
}

static int to_lines(const struct values_by *by, enum perfabi_format format,
		    const unsigned char *bytes, size_t size, struct out *lines, struct error *e)
{
	struct decode_options options = {.format = format,
					 .order_is_given = true,
					 .order = host_order(),
					 .arch = by->arch,
					 .arch_is_given = true,
					 .lines = {.strict = by->strict},
					 .integers = true,
					 .no_header = true,
					 .no_summary = true};
	struct decoder *d = malloc(sizeof(*d));
	struct events base;
	int err = d ? events_init(&base, by->abi, e) : -ENOMEM;

	if (d && !err) {
		err = decoder_init(d, &base, &options, out_append, lines);
		if (!err)
			err = decode_memory(d, by, bytes, size, e);
		decoder_free(d);
	}
	if (d)
		events_free(&base);
	free(d);
	if (err == -ENOMEM)
		return no_memory_for_values(e);
	return err && !error_is_set(e) ? error_text(e, NULL, strerror(-err), "bytes to decode")
				       : err;
}

/* One line's value: a record, or the first diagnostic that counts. 0 or -ENOMEM. */
static int take_line(struct values *out, json_t *line, bool goes_round)
{
	const char *type = json_string_value(json_object_get(line, "type"));
	const char *code = json_string_value(json_object_get(line, "code"));

	if (!line || !type)
		return -ENOMEM;
	if (strcmp(type, "diagnostic") != 0)
		return json_array_append(out->records, line) ? -ENOMEM : 0;
	if (!out->finding && !(goes_round && code && !strcmp(code, "overwritten")))
		out->finding = json_incref(line);
	return 0;
}

static int values_of(struct values *out, const struct values_by *by, enum perfabi_format format,
		     const unsigned char *bytes, size_t size, struct error *e)
{
	struct out lines;
	int err;

	*out = (struct values){.records = json_array()};
	if (!out->records)
		return no_memory_for_values(e);
	if (!size)
		return 0;
	err = out_init(&lines, NULL, NULL);
	if (err)
		return no_memory_for_values(e);
	err = to_lines(by, format, bytes, size, &lines, e);
	for (const char *at = lines.base, *end; !err && at < lines.at; at = end + 1) {
		json_t *line;

		end = memchr(at, '\n', (size_t)(lines.at - at));
		line = json_loadb(at, (size_t)(end - at), 0, NULL);
		err = take_line(out, line, format == PERFABI_RING);
		json_decref(line);
		if (err)
			no_memory_for_values(e);
	}
	out_free(&lines);
	return err;
}

int values_of_records(struct values *out, const struct values_by *by, const unsigned char *bytes,
		      size_t size, struct error *e)
{
	return values_of(out, by, PERFABI_RECORDS, bytes, size, e);
}

int values_of_ring(struct values *out, const struct values_by *by, const unsigned char *image,
		   size_t size, struct error *e)
{
	return values_of(out, by, PERFABI_RING, image, size, e);
}

void values_free(struct values *values)
{
	json_decref(values->records);
	json_decref(values->finding);
	*values = (struct values){0};
}

/* What is being read by a layout that is no record's. */
struct reading {
	struct plan plan;
	struct record record;
	enum record_problem problem;
};

static int reading_begin(struct reading *r, const struct values_by *by, const char *layout,
			 struct error *e)
{
	struct plan_for with = {
		.abi = by->abi, .arch = by->arch, .attr = by->attrs->bytes, .integers = true};

	*r = (struct reading){.record = {.abi = by->abi, .arch = by->arch, .order = host_order()}};
	return plan_make(&r->plan, &with, abi_layout(by->abi, layout)) ? no_memory_for_values(e)
								       : 0;
}

static json_t *reading_members(struct reading *r, const unsigned char *bytes, size_t size,
			       struct error *e)
{
	json_t *json = members_of(&r->plan, &r->record, bytes, size, &r->problem);

	if (!json)
		no_memory_for_values(e);
	return json;
}

json_t *values_of_page(const struct values_by *by, const unsigned char *page, size_t size,
		       struct error *e)
{
	struct reading r;
	size_t known;
	json_t *json;

	if (reading_begin(&r, by, "mmap_page", e))
		return NULL;
	known = plan_fixed_size(&r.plan);
	json = reading_members(&r, page, size < known ? size : known, e);
	plan_free(&r.plan);
	return json;
}

json_t *values_of_read(const struct values_by *by, const unsigned char *bytes, size_t size,
		       struct error *e)
{
	struct reading r;
	json_t *json;
	char text[160];

	if (reading_begin(&r, by, "read_format", e))
		return NULL;
	json = reading_members(&r, bytes, size, e);
	if (json && r.problem != RECORD_OK) {
		json_decref(json);
		json = NULL;
		error_text(e, NULL, record_problem_text(r.problem, &r.record, text, sizeof(text)),
			   "what read(2) gives, as its read_format says");
	}
	plan_free(&r.plan);
	return json;
}
