/* SPDX-License-Identifier: MIT */
/*
 * The public API: layouts once, then a decoder a call.
 */
#include "perfabi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "stream/decode.h"
#include "stream/select.h"
#include "text/json_text.h"
#include "text/source.h"

struct perfabi {
	struct sources sources;
	bool own_sources;
	struct abi *abi;
	struct events base; /* what all recordings have in common */
};

static void error_text_of(const struct error *e, int err, char *text, size_t size)
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

static bool is_for_memory(const struct error *e, int err)
{
	return e->no_memory || (err == -ENOMEM && !error_is_set(e));
}

struct perfabi *perfabi_new(const char *cases, char *message, size_t size)
{
	struct perfabi *p = calloc(1, sizeof(*p));
	struct error e = {0};
	int err = p ? 0 : -ENOMEM;

	if (p && cases) {
		err = sources_read(&p->sources, cases, &e);
		p->own_sources = !err;
	} else if (p) {
		p->sources = abi_builtin();
	}
	if (!err) {
		p->abi = abi_load(&p->sources, &e);
		err = p->abi ? events_init(&p->base, p->abi, &e) : -EINVAL;
	}
	if (!err)
		return p;
	if (message)
		error_text_of(&e, err, message, size);
	perfabi_free(p);
	errno = is_for_memory(&e, err) ? ENOMEM : EINVAL;
	return NULL;
}

void perfabi_free(struct perfabi *perfabi)
{
	if (!perfabi)
		return;
	events_free(&perfabi->base);
	abi_free(perfabi->abi);
	if (perfabi->own_sources)
		sources_free(&perfabi->sources);
	free(perfabi);
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

static int machine_options(struct decode_options *out, const struct abi *abi, const char *machine,
			   struct error *e)
{
	struct utsname u;

	out->arch = abi_arch(abi, machine ? machine : uname(&u) ? "" : u.machine);
	out->arch_is_given = machine != NULL;
	if (machine && !out->arch)
		return error_text(e, NULL, machine, "a machine as uname -m names it (--machine)");
	return 0;
}

/* What the caller's options come to; what `selection` holds they point into. */
static int take_options(struct decode_options *out, struct selection *selection,
			const struct perfabi_options *o, struct found_attrs *found,
			const struct events *base, struct error *e)
{
	struct selection_names names = {o->types, o->type_count, o->fields, o->field_count};
	int err = selection_make(selection, &names, base, e);

	if (err)
		return err;
	*out = (struct decode_options){
		.format = format_of(o->format),
		.order_is_given = o->order != PERFABI_HOST,
		.order = o->order == PERFABI_BIG ? BIG : LITTLE,
		.lines = selection->lines,
		.fields = selection->fields,
		.field_count = selection->field_count,
		.no_header = o->check,
		.header_only = o->header_only,
		.no_summary = o->no_summary,
		.found = found,
		.jobs = o->jobs,
		.shard = o->shard,
		.shards = o->shards,
	};
	out->lines.notes = o->bytes;
	out->lines.strict = out->lines.unwritten = o->check;
	return machine_options(out, base->abi, o->machine, e);
}

static int read_given_attrs(struct attr_list *attrs, struct decoder *d,
			    const struct perfabi_options *o, struct error *e)
{
	size_t n = input_fill(&d->in, PERFDATA_MAGIC);
	enum byte_order order;

	if (!o->attr && perfdata_detect(input_bytes(&d->in), n, &order))
		return error_text(e, NULL, "a perf.data", "%s attrs, as --input says",
				  d->format == FORMAT_RING ? "an image of the mmap area and its"
							   : "records alone and their");
	if (!o->attr)
		return error_text(e, NULL, "none",
				  "the attr of these records in JSON (--attr FILE): "
				  "this is no perf.data");
	return attr_list_read(attrs, d->abi, d->events.arch, o->attr,
			      o->attr_name ? o->attr_name : "attr", NULL, e);
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

/* From the input's first byte to its last. */
static int decode_opened(struct decoder *d, const struct perfabi_options *o, struct error *e)
{
	struct attr_list attrs = {0};
	bool is_alone = false;
	int err = d->options.found ? take_attr_alone(d, &is_alone) : 0;

	if (err || is_alone)
		return err;
	err = decoder_find_format(d, e);
	if (!err && d->format != FORMAT_PERF_DATA)
		err = read_given_attrs(&attrs, d, o, e);
	d->attrs = &attrs;
	if (!err)
		err = decoder_begin(d, e);
	if (!err && d->in.err)
		err = d->in.err;
	if (!err && !o->header_only)
		err = decoder_records(d);
	attr_list_free(&attrs);
	return err;
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

static int decode_fd(struct decoder *d, int fd, const struct perfabi_options *o,
		     struct perfabi_result *result, struct error *e)
{
	struct lines_sums sums;
	int err = input_open(&d->in, fd);

	if (!err)
		err = decoder_start(d);
	if (err)
		return err;
	err = decoder_end(d, decode_opened(d, o, e), &sums);
	count(result, &sums);
	return err;
}

static int check_shard(const struct perfabi_options *o, struct perfabi_result *result)
{
	if (!o->shards || (o->shard >= 1 && o->shard <= o->shards))
		return 0;
	snprintf(result->message, sizeof(result->message),
		 "shard %u of %u: expected a number from 1 to %u", o->shard, o->shards, o->shards);
	return -EINVAL;
}

/* With `found`, which may be NULL, as perfabi_attrs(). */
static int decode(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		  struct found_attrs *found,
		  int (*sink)(void *context, const char *text, size_t size), void *context,
		  struct perfabi_result *result)
{
	struct decoder *d = calloc(1, sizeof(*d));
	struct selection selection = {0};
	struct decode_options o;
	struct error e = {0};
	int err;

	*result = (struct perfabi_result){0};
	if (!d)
		return -ENOMEM;
	err = check_shard(options, result);
	if (!err)
		err = take_options(&o, &selection, options, found, &perfabi->base, &e);
	result->bad_options = err == -EINVAL;
	if (!err)
		err = decoder_init(d, &perfabi->base, &o, sink, context);
	if (!err)
		err = decode_fd(d, fd, options, result, &e);
	if (is_for_memory(&e, err))
		err = -ENOMEM;
	if (err && err == d->in.err && !d->message[0])
		decoder_fail(d, err, "reading: %s", strerror(-err));
	if (err && d->message[0])
		memcpy(result->message, d->message, sizeof(result->message));
	else if (err && !result->message[0])
		error_text_of(&e, err, result->message, sizeof(result->message));
	decoder_free(d);
	selection_free(&selection);
	free(d);
	return err;
}

int perfabi_decode(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		   int (*sink)(void *context, const char *text, size_t size), void *context,
		   struct perfabi_result *result)
{
	return decode(perfabi, fd, options, NULL, sink, context, result);
}

/* The lines that come of it are nobody's. */
static int drop_lines(void *context, const char *text, size_t size)
{
	(void)context;
	(void)text;
	(void)size;
	return 0;
}

int perfabi_attrs(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		  char **text, struct perfabi_result *result)
{
	static const char *const types[] = {"header_attr"};
	const struct perfabi_options alone = {.format = PERFABI_PERF_DATA,
					      .order = options->order,
					      .machine = options->machine,
					      .types = types,
					      .type_count = 1,
					      .no_summary = true};
	struct found_attrs found = {0};
	int err = decode(perfabi, fd, &alone, &found, drop_lines, NULL, result);

	if (!err && !found.json)
		found.json = json_array();
	*text = err ? NULL : json_text(found.json, JSON_INDENT(2));
	json_decref(found.json);
	return err || *text ? err : -ENOMEM;
}
