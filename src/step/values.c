/* SPDX-License-Identifier: MIT */
/*
 * Lines, as for everybody, but to memory; then each is the value that it says.
 */
#include "step/values.h"

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
static int to_lines(const struct values_by *by, enum perfabi_format format,
		    const unsigned char *bytes, size_t size, struct out *lines, struct error *e)
{
	struct decode_options options = {
		.api = {.format = format,
			.order = host_order() == BIG ? PERFABI_BIG : PERFABI_LITTLE,
			.no_summary = true},
		.arch_is_given = true,
		.lines = {.strict = by->strict},
		.with = {.integers = true, .arch = by->arch},
		.no_header = true};
	struct decoder *d = calloc(1, sizeof(*d));
	struct events base = {0};
	struct lines_sums sums;
	int err = d ? events_init(&base, by->abi, e) : -ENOMEM;

	if (!err)
		err = decoder_init(d, &base, &options, out_append, lines);
	if (!err) {
		d->attrs = by->attrs;
		err = input_open_memory(&d->part->in, bytes, size);
		if (!err)
			err = decoder_find_format(d, e);
		if (!err)
			err = decoder_begin(d, e);
		for (bool more = true; !err && more;)
			err = decoder_step(d, &more);
		err = decoder_end(d, err, &sums);
	}
	if (d && d->part) /* it was begun */
		decoder_free(d);
	events_free(&base);
	free(d);
	if (err == -ENOMEM)
		return no_memory_for_values(e);
	return err && !error_is_set(e) ? error_text(e, NULL, strerror(-err), "bytes to decode")
				       : err;
}

int values_of(struct values *out, const struct values_by *by, enum perfabi_format format,
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
		const char *type, *code;
		json_t *line;

		end = memchr(at, '\n', (size_t)(lines.at - at));
		line = json_loadb(at, (size_t)(end - at), 0, NULL);
		type = json_string_value(json_object_get(line, "type"));
		code = json_string_value(json_object_get(line, "code"));
		if (!type)
			err = -ENOMEM;
		else if (strcmp(type, "diagnostic") != 0)
			err = json_array_append(out->records, line) ? -ENOMEM : 0;
		else if (!out->finding && code && strcmp(code, "no-format") != 0 &&
			 !(format == PERFABI_RING && !strcmp(code, "overwritten")))
			out->finding = json_incref(line);
		json_decref(line);
		if (err)
			no_memory_for_values(e);
	}
	out_free(&lines);
	return err;
}

void values_free(struct values *values)
{
	json_decref(values->records);
	json_decref(values->finding);
	*values = (struct values){0};
}

/*
 * The members of the bytes as an object, whatever record_put() says of them, which is in *problem.
 * There is one interpreter of plans, and it writes text: what it wrote is taken from there.
 */
static json_t *record_as_json(const struct plan *plan, struct record *r, const unsigned char *bytes,
			      size_t size, enum record_problem *problem)
{
	char *text = malloc(record_longest(plan, r, size) + PUT_SLACK), *p = text;
	json_t *json;

	if (!text)
		return NULL;
	*p++ = '{';
	*problem = record_put(plan, r, bytes, 0, size, 0, &p);
	p = put_close(p, '}');
	json = r->err ? NULL : json_loadb(text, (size_t)(p - text), 0, NULL);
	free(text);
	return json;
}

/* The members of bytes by a layout that is no record's, of no more than it knows or of all. */
static json_t *values_by_layout(const struct values_by *by, const char *layout, bool is_cut,
				const unsigned char *bytes, size_t size, struct error *e)
{
	const struct plan_for with = {
		.abi = by->abi, .arch = by->arch, .attr = by->attrs->bytes, .integers = true};
	struct record record = {.abi = by->abi, .arch = by->arch, .order = host_order()};
	enum record_problem problem = RECORD_OK;
	json_t *json = NULL;
	struct plan plan;
	char text[160];
	int err = plan_make(&plan, &with, abi_layout(by->abi, layout));

	if (!err) {
		if (is_cut && size > plan_fixed_size(&plan))
			size = plan_fixed_size(&plan);
		json = record_as_json(&plan, &record, bytes, size, &problem);
	}
	if (!json) {
		no_memory_for_values(e);
	} else if (!is_cut && problem != RECORD_OK) {
		json_decref(json);
		json = NULL;
		error_text(e, NULL, record_problem_text(problem, &record, text, sizeof(text)),
			   "what read(2) gives, as its read_format says");
	}
	if (!err)
		plan_free(&plan); /* which the problem's text is of */
	return json;
}

json_t *values_of_page(const struct values_by *by, const unsigned char *page, size_t size,
		       struct error *e)
{
	return values_by_layout(by, "mmap_page", true, page, size, e);
}

json_t *values_of_read(const struct values_by *by, const unsigned char *bytes, size_t size,
		       struct error *e)
{
	return values_by_layout(by, "read_format", false, bytes, size, e);
}
