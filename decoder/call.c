/* SPDX-License-Identifier: MIT */
/*
 * Between the API and a decoder.
 */
#include "call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "stream/given_attrs.h"

void call_error_text(const struct error *e, int err, char *text, size_t size)
{
	char where[600] = "";
	char line[16] = "";

	if (e->line)
		snprintf(line, sizeof(line), ":%d", e->line);
	if (e->file[0])
		snprintf(where, sizeof(where), "%s%s: %s%s", e->file, line, e->pointer,
			 e->pointer[0] ? ": " : "");
	if (e->no_memory)
		snprintf(text, size, "no %s", e->expected);
	else if (!error_is_set(e))
		snprintf(text, size, "%s", strerror(-err));
	else
		snprintf(text, size, "%sexpected %s, got %s%s%s%s", where, e->expected,
			 e->got[0] ? e->got : "nothing", e->nearest[0] ? " (nearest: \"" : "",
			 e->nearest, e->nearest[0] ? "\")" : "");
}

bool call_is_for_memory(const struct error *e, int err)
{
	return e->no_memory || (err == -ENOMEM && !error_is_set(e));
}

static enum format format_of(enum perfabi_format format)
{
	switch (format) {
	case PERFABI_PERF_DATA:
		return FORMAT_PERF_DATA;
	case PERFABI_RING:
		return FORMAT_RING;
	case PERFABI_RECORDS:
		return FORMAT_RECORDS;
	case PERFABI_AUTO:
		break;
	}
	return FORMAT_UNKNOWN;
}

/* Each option that is checked here: 0, or -EINVAL with call->option its name. */
static int refuse_option(struct call *call, const char *option, const char *got,
			 const char *expected)
{
	call->option = option;
	return error_text(&call->error, NULL, got, "%s", expected);
}

static int check_reserved(struct call *call, const struct perfabi_options *o)
{
	for (size_t i = 0; i < sizeof(o->reserved) / sizeof(o->reserved[0]); i++)
		if (o->reserved[i])
			return refuse_option(call, "reserved", "another number",
					     "0 in the reserve of the options");
	return 0;
}

static int check_enums(struct call *call, const struct perfabi_options *o)
{
	if ((unsigned)o->format > PERFABI_RECORDS)
		return refuse_option(call, "format", "another number", "an enum perfabi_format");
	if ((unsigned)o->order > PERFABI_BIG)
		return refuse_option(call, "order", "another number", "an enum perfabi_order");
	return 0;
}

static int check_shards(struct call *call, const struct perfabi_options *o, bool has_lines)
{
	char got[64], expected[64];

	if (!o->shards || (has_lines && o->shard >= 1 && o->shard <= o->shards))
		return 0;
	if (!has_lines)
		return refuse_option(call, "shards", "shards", "all of the recording");
	snprintf(got, sizeof(got), "%u of %u", o->shard, o->shards);
	snprintf(expected, sizeof(expected), "a shard from 1 to %u", o->shards);
	return refuse_option(call, "shard", got, expected);
}

static int check_jobs(struct call *call, const struct perfabi_options *o)
{
	char got[32], expected[48];

	if (o->jobs <= PERFABI_JOBS_MAX)
		return 0;
	snprintf(got, sizeof(got), "%u", o->jobs);
	snprintf(expected, sizeof(expected), "at most %d threads", PERFABI_JOBS_MAX);
	return refuse_option(call, "jobs", got, expected);
}

static int take_machine(struct decode_options *out, struct call *call, const char *machine)
{
	const struct abi *abi = call->perfabi->abi;
	struct utsname u;

	out->arch = abi_arch(abi, machine ? machine : uname(&u) ? "" : u.machine);
	out->arch_is_given = machine != NULL;
	if (machine && !out->arch)
		return refuse_option(call, "machine", machine, "a machine as uname -m names it");
	return 0;
}

static int take_selection(struct call *call, const struct perfabi_options *o)
{
	const struct selection_names types = {.types = o->types,
					      .type_count = o->types ? o->type_count : 0};
	const struct selection_names names = {types.types, types.type_count, o->fields,
					      o->fields ? o->field_count : 0};
	struct selection unwanted;
	int err = selection_make(&unwanted, &types, &call->perfabi->base, &call->error);

	selection_free(&unwanted);
	call->option = "types";
	if (!err) {
		call->option = "fields";
		err = selection_make(&call->selection, &names, &call->perfabi->base, &call->error);
	}
	if (!err)
		call->option = NULL;
	return err;
}

/* What the caller's options come to. */
static int take_options(struct decode_options *out, struct call *call,
			const struct perfabi_options *o, const struct call_for *what)
{
	bool has_lines = !what->finds;
	int err = check_reserved(call, o);

	if (!err)
		err = check_enums(call, o);
	if (!err)
		err = check_shards(call, o, has_lines);
	if (!err && has_lines)
		err = check_jobs(call, o);
	if (!err)
		err = take_selection(call, o);
	if (err)
		return err;
	*out = (struct decode_options){
		.format = format_of(o->format),
		.order_is_given = o->order != PERFABI_HOST,
		.order = o->order == PERFABI_BIG ? BIG : LITTLE,
		.lines = call->selection.lines,
		.fields = call->selection.fields,
		.field_count = call->selection.field_count,
		.found = what->found,
		.finds = what->finds,
		.paths = has_lines ? NULL : &call->perfabi->paths,
		.no_header = !has_lines || o->check,
		.no_summary = !has_lines || o->no_summary,
	};
	if (has_lines) {
		out->header_only = o->header_only;
		out->jobs = o->jobs;
		out->shard = o->shard;
		out->shards = o->shards;
		out->lines.notes = o->bytes;
		out->lines.strict = out->lines.unwritten = o->check;
	}
	return take_machine(out, call, o->machine);
}

static int read_given_attrs(struct call *call, const struct perfabi_options *o)
{
	struct decoder *d = &call->decoder;

	call->option = "attr";
	if (!o->attr)
		return error_text(&call->error, NULL, "neither",
				  "a perf.data, or records and their attrs in JSON");
	return attr_list_read(&call->attrs, d->abi, d->events.arch, o->attr,
			      o->attr_name ? o->attr_name : "attr", NULL, &call->error);
}

/* The attrs of what is no perf.data. */
static int take_given_attrs(struct call *call, const struct perfabi_options *o)
{
	struct decoder *d = &call->decoder;
	size_t n = input_fill(&d->in, PERFDATA_MAGIC);
	enum byte_order order;
	int err;

	if (!o->attr && perfdata_detect(input_bytes(&d->in), n, &order)) {
		call->option = "format";
		return error_text(&call->error, NULL, "a perf.data", "%s attrs",
				  d->format == FORMAT_RING ? "an image of the mmap area and its"
							   : "records alone and their");
	}
	err = read_given_attrs(call, o);
	if (!err)
		call->option = NULL;
	return err;
}

/* The bytes of one attr, which are no recording. *is_alone: they are taken for such. */
static int take_attr_alone(struct decoder *d, bool *is_alone)
{
	size_t n = input_fill(&d->in, PERFDATA_MAGIC);
	enum byte_order order;

	*is_alone = !d->in.err && !perfdata_detect(input_bytes(&d->in), n, &order);
	if (!*is_alone)
		return 0;
	n = input_fill(&d->in, FOUND_ATTR_MAX + 1);
	if (d->in.err)
		return d->in.err;
	d->events.order = d->options.order_is_given ? d->options.order : host_order();
	return found_attrs_alone(d->options.found, &d->events, input_bytes(&d->in),
				 d->in.seekable ? d->in.size : n, d->message, sizeof(d->message));
}

/* Up to the first record. */
static int begin_opened(struct call *call, const struct perfabi_options *o)
{
	struct decoder *d = &call->decoder;
	bool is_alone = false;
	int err = d->options.found ? take_attr_alone(d, &is_alone) : 0;

	if (!err && is_alone)
		input_select(&d->in, NULL, 0);
	if (err || is_alone)
		return err;
	err = decoder_find_format(d, &call->error);
	if (!err && d->format != FORMAT_PERF_DATA)
		err = take_given_attrs(call, o);
	d->attrs = &call->attrs;
	if (!err)
		err = decoder_begin(d, &call->error);
	if (!err && d->in.err)
		err = d->in.err;
	if (err && d->option)
		call->option = d->option;
	return err;
}

/* A decoder by the options, which has no input. */
static int call_open(struct call *call, const struct perfabi *perfabi,
		     const struct perfabi_options *options, const struct call_for *what)
{
	struct decode_options o;
	int err;

	*call = (struct call){.perfabi = perfabi};
	err = take_options(&o, call, options, what);
	if (!err)
		err = decoder_init(&call->decoder, &perfabi->base, &o, what->sink, what->context);
	return err;
}

static int open_bytes(struct input *in, const struct call_input *input)
{
	return input->in_memory ? input_open_memory(in, input->memory, input->size)
				: input_open(in, input->fd);
}

static const struct perfabi_options no_options;

int call_begin(struct call *call, const struct perfabi *perfabi, const struct call_input *input,
	       const struct perfabi_options *options, const struct call_for *what)
{
	const struct perfabi_options *o = options ? options : &no_options;
	int err = call_open(call, perfabi, o, what);

	if (!err)
		err = open_bytes(&call->decoder.in, input);
	if (!err)
		err = decoder_start(&call->decoder);
	call->is_started = !err;
	return err ? err : begin_opened(call, o);
}

int call_begin_events(struct call *call, const struct perfabi *perfabi,
		      const struct perfabi_options *options, const struct call_for *what)
{
	const struct perfabi_options *o = options ? options : &no_options;
	struct decoder *d = &call->decoder;
	int err = call_open(call, perfabi, o, what);

	if (!err)
		err = decoder_start(d);
	call->is_started = !err;
	if (!err)
		err = read_given_attrs(call, o);
	if (!err)
		err = given_attrs_add(&call->attrs, &d->events, &call->error);
	if (err)
		return err;
	call->option = NULL;
	lines_id_clashes(&d->lines, &d->events, (struct place){0, -1});
	lines_no_ids(&d->lines, &d->events, (struct place){0, -1});
	return d->out.err;
}

static void count(struct perfabi_result *result, const struct lines_sums *sums)
{
	result->errors = sums->diagnostics[GRADE_ERROR];
	result->warnings = sums->diagnostics[GRADE_WARNING];
	result->notes = sums->diagnostics[GRADE_NOTE];
	result->lost = sums->lost;
	result->records = sums->unknown;
	for (size_t i = 0; i < TYPES; i++)
		result->records += sums->records[i];
}

int call_result(const struct call *call, int err, const struct lines_sums *sums,
		struct perfabi_result *result)
{
	const struct decoder *d = &call->decoder;

	*result = (struct perfabi_result){0};
	count(result, sums);
	if (call_is_for_memory(&call->error, err))
		err = -ENOMEM;
	if (!err)
		return 0;
	result->option = err == -EINVAL ? call->option : NULL;
	if (d->message[0])
		memcpy(result->message, d->message, sizeof(result->message));
	else if (err == d->in.err)
		snprintf(result->message, sizeof(result->message), "reading: %s", strerror(-err));
	else
		call_error_text(&call->error, err, result->message, sizeof(result->message));
	return err;
}

void call_end(struct call *call)
{
	decoder_free(&call->decoder);
	attr_list_free(&call->attrs);
	selection_free(&call->selection);
}
