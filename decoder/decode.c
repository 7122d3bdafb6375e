/* SPDX-License-Identifier: MIT */
/*
 * perfabi_decode(): from the input's first bytes to the summary. What is here decides who handles
 * which bytes; how a record becomes a line is in lines.c, where records end in scan.c.
 */
#include "perfabi.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "attr_list.h"
#include "decompress.h"
#include "input.h"
#include "jobs.h"
#include "json.h"
#include "lines.h"
#include "perfdata.h"
#include "ring.h"
#include "scan.h"
#include "select.h"

enum { FILL = 192 * 1024 }; /* of the window, before records are looked for */

/* The records that are not only written. */
enum special { PLAIN, HEADER_ATTR, HEADER_FEATURE, COMPRESSED, FOLLOWED };

struct decoder {
	const struct perfabi_options *options;
	struct perfabi_result *result;
	const struct abi *abi;
	struct events events;
	struct input in;
	struct out out;
	struct lines lines;
	struct selection selection;
	struct jobs *jobs;
	int (*sink)(void *, const char *, size_t);
	void *context;
	struct decompress decompress;
	bool special[TYPES];
	enum special role[TYPES];
	uint64_t first, last; /* the shard's range of file offsets */
	uint64_t limit;       /* where the data ends as the file has it; for messages */
};

static int fail(struct decoder *d, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct decoder *d, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(d->result->message, sizeof(d->result->message), format, args);
	va_end(args);
	return err;
}

/* Before the caller's own lines: what was given to the threads comes first. */
static void set_silence(struct decoder *d, struct place place)
{
	d->lines.options.silent = place.offset < d->first || place.offset >= d->last;
}

static int pass_on(struct decoder *d)
{
	return d->jobs ? out_flush(&d->out) : d->out.err;
}

/* The part of a run that lies in the shard; the rest is only stepped over. */
static void cut_to_shard(const struct decoder *d, const unsigned char **bytes, size_t *size,
			 struct place *place)
{
	size_t begin = 0, end;

	if (place->within >= 0) {
		if (place->offset < d->first || place->offset >= d->last)
			*size = 0;
		return;
	}
	while (begin < *size && place->offset + begin < d->first)
		begin += (size_t)load_word(*bytes + begin + 6, 2, d->events.order);
	end = begin;
	if (place->offset + *size <= d->last)
		end = *size;
	while (end < *size && place->offset + end < d->last)
		end += (size_t)load_word(*bytes + end + 6, 2, d->events.order);
	*bytes += begin;
	*size = end - begin;
	place->offset += begin;
}

static int put_run(struct decoder *d, const unsigned char *bytes, size_t size, struct place place)
{
	if (d->options->shards)
		cut_to_shard(d, &bytes, &size, &place);
	if (!size)
		return 0;
	if (d->jobs)
		return jobs_records(d->jobs, bytes, size, place);
	d->lines.options.silent = false;
	lines_put(&d->lines, bytes, size, place);
	return d->out.err;
}

/* One record by the caller's own lines. */
static int put_one(struct decoder *d, const unsigned char *bytes, size_t size, struct place place)
{
	set_silence(d, place); /* what it says of the recording counts for all shards */
	lines_put(&d->lines, bytes, size, place);
	return pass_on(d);
}

static uint16_t size_of(const struct decoder *d, const unsigned char *bytes)
{
	return (uint16_t)load_word(bytes + 6, 2, d->events.order);
}

/* A header that cannot be believed: says so and how far it is to one that can. */
static size_t say_damage(struct decoder *d, const unsigned char *bytes, size_t size, bool at_end,
			 enum scan_stop stop, struct place place)
{
	size_t next = scan_resync(&d->lines, bytes, 8, size, at_end);
	unsigned length = size >= 8 ? size_of(d, bytes) : 0;

	if (next > size)
		next = size;
	set_silence(d, place);
	if (stop == SCAN_SIZE)
		lines_diagnostic(&d->lines, place, length ? "size-short" : "size-zero", next,
				 "record size %u is less than its header's 8", length);
	else if (size < 8)
		lines_diagnostic(&d->lines, place, "truncated", next,
				 "%zu bytes at the end are no record's header", size);
	else if (next == size)
		lines_diagnostic(&d->lines, place, "truncated", next,
				 "a record of %u bytes, and %zu are left", length, size);
	else
		lines_diagnostic(&d->lines, place, "size-past-end", next,
				 "a record of %u bytes, and %zu are left", length, size);
	pass_on(d);
	return next;
}

/* Whole records out of the decompressed stream; at_end: no more of it comes. */
static int put_decompressed(struct decoder *d, uint64_t offset, bool at_end)
{
	struct decompress *z = &d->decompress;
	int err = 0;

	while (!err && z->start < z->end) {
		const unsigned char *bytes = z->bytes + z->start;
		size_t size = z->end - z->start, n;
		struct place place = {offset, (int64_t)z->position};
		enum scan_stop stop;

		n = scan_records(&d->events, NULL, bytes, size, at_end, &stop);
		if (n)
			err = put_run(d, bytes, n, place);
		if (!n && stop == SCAN_MORE)
			break;
		if (!n) {
			n = say_damage(d, bytes, size, at_end, stop, place);
			if (n == size && !at_end && size > 65536)
				n = size - 65536;
		}
		z->start += n;
		z->position += n;
	}
	return err;
}

static int decompress_record(struct decoder *d, const unsigned char *bytes, size_t size,
			     size_t payload, size_t length, struct place place)
{
	const unsigned char *input = bytes + payload;
	size_t left = length;
	int err = put_one(d, bytes, size, place);

	while (!err && left) {
		const unsigned char *before = input;
		size_t end = d->decompress.end - d->decompress.start;
		const char *why;

		if (decompress_some(&d->decompress, &input, &left, &why)) {
			set_silence(d, place);
			lines_diagnostic(&d->lines, place, "zstd", left,
					 "compressed data that zstd does not take: %s", why);
			d->decompress.start = d->decompress.end = 0;
			return pass_on(d);
		}
		err = put_decompressed(d, place.offset, false);
		if (input == before && end == d->decompress.end - d->decompress.start)
			break;
	}
	return err;
}

static int compressed(struct decoder *d, const unsigned char *bytes, size_t size,
		      struct place place)
{
	uint32_t type = (uint32_t)load_word(bytes, 4, d->events.order);
	int slot = d->events.slot_of[type];
	const struct plan *plan = events_plan(&d->events, d->events.bare, slot);
	size_t payload = 8, length = size - 8;
	int at = plan ? plan_offset(plan, "data_size") : -1;

	if (at >= 8 && size >= (size_t)at + 8) { /* COMPRESSED2: then padding */
		payload = (size_t)at + 8;
		length = size - payload;
		if (load_word(bytes + at, 8, d->events.order) < length)
			length = (size_t)load_word(bytes + at, 8, d->events.order);
	}
	return decompress_record(d, bytes, size, payload, length, place);
}

/* A pipe's attr: the event, and the ids behind the attr. */
static void add_event(struct decoder *d, const unsigned char *bytes, size_t size,
		      struct place place)
{
	size_t length = size >= 16 ? (size_t)load_word(bytes + 12, 4, d->events.order) : 0;
	int event;

	if (size < 8 + ATTR_SMALLEST)
		return;
	if (!length)
		length = ATTR_SMALLEST;
	if (length < ATTR_SMALLEST || length > size - 8)
		return;
	set_silence(d, place);
	event = perfdata_add_attr(&d->events, bytes + 8, length, place.offset + 8, &d->lines);
	for (size_t at = 8 + length; event >= 0 && at + 8 <= size; at += 8)
		if (events_add_id(&d->events, load_word(bytes + at, 8, d->events.order), event))
			break;
}

static void take_feature(struct decoder *d, const unsigned char *bytes, size_t size,
			 struct place place)
{
	const struct abi_family *features = abi_family(d->abi, "feature");
	const struct abi_value *arch = features ? abi_value(features, "arch", NULL) : NULL;
	struct segment range = {place.offset + 16, size - 16};
	struct out text, *said = d->lines.out;
	struct lines_sums sums = d->lines.sums;

	if (size < 16 || !arch || load_word(bytes + 8, 8, d->events.order) != arch->value ||
	    out_init(&text, NULL, NULL))
		return;
	d->lines.out = &text;
	perfdata_put_feature((unsigned)arch->value, bytes + 16, &range, &d->lines, &text);
	perfdata_set_arch(&d->events, text.base, (size_t)(text.at - text.base));
	d->lines.out = said;
	d->lines.sums = sums;
	out_free(&text);
}

/* The bytes behind a record that are not in its size: AUX data, tracing data. */
static void pass_over(struct decoder *d, const unsigned char *bytes, size_t size, uint64_t *follow)
{
	uint32_t type = (uint32_t)load_word(bytes, 4, d->events.order);
	int slot = d->events.slot_of[type];
	const json_t *json = json_object_get(d->events.records[slot].value->json, "followed_by");
	const char *field = json_string_value(json_object_get(json, "field"));
	const struct plan *plan = events_plan(&d->events, d->events.bare, slot);
	uint64_t align = (uint64_t)json_integer_value(json_object_get(json, "align"));
	int at = field && plan ? plan_offset(plan, field) : -1;
	unsigned width = 0;

	for (size_t i = 0; at >= 0 && i < plan->count; i++)
		if (plan->ops[i].path && !strcmp(plan->ops[i].path, field))
			width = plan->ops[i].width;
	*follow = 0;
	if (at < 0 || !width || size < (size_t)at + width)
		return;
	*follow = load_word(bytes + at, width, d->events.order);
	if (align > 1 && *follow % align && *follow < UINT64_MAX - align)
		*follow += align - *follow % align;
}

static int special(struct decoder *d, const unsigned char *bytes, size_t size, struct place place,
		   uint64_t *follow)
{
	enum special role = d->role[load_word(bytes, 4, d->events.order)];
	int err = 0;

	if (role == COMPRESSED)
		return compressed(d, bytes, size, place);
	if (role == FOLLOWED)
		pass_over(d, bytes, size, follow);
	if (d->jobs && role != FOLLOWED)
		err = jobs_drain(d->jobs);
	if (!err)
		err = put_one(d, bytes, size, place);
	if (role == HEADER_ATTR)
		add_event(d, bytes, size, place);
	else if (role == HEADER_FEATURE)
		take_feature(d, bytes, size, place);
	return err ? err : pass_on(d);
}

static void skip(struct decoder *d, uint64_t follow, struct place place)
{
	uint64_t skipped = input_skip(&d->in, follow);

	set_silence(d, place);
	if (!d->lines.options.silent)
		d->lines.sums.passed_over += skipped;
	if (skipped < follow)
		lines_diagnostic(&d->lines, place, "truncated", 0,
				 "%llu bytes should follow this record, and %llu do",
				 (unsigned long long)follow, (unsigned long long)skipped);
	pass_on(d);
}

/* Records from the window until the input ends. */
static int put_records(struct decoder *d)
{
	int err = 0;

	while (!err) {
		size_t size = input_fill(&d->in, FILL), n;
		const unsigned char *bytes = input_bytes(&d->in);
		struct place place = {.within = -1};
		enum scan_stop stop;
		uint64_t linear, follow = 0;
		bool at_end = input_at_end(&d->in);

		if (d->in.err)
			return fail(d, d->in.err, "reading: %s", strerror(-d->in.err));
		if (!size)
			break;
		place.offset = input_offset(&d->in, 0, &linear);
		n = scan_records(&d->events, d->special, bytes, size, at_end, &stop);
		if (n > linear) { /* up to where the ring begins again, and the record across */
			size_t whole = 0;

			while (whole < linear)
				whole += size_of(d, bytes + whole);
			n = whole;
			stop = SCAN_MORE;
		}
		if (n) {
			err = put_run(d, bytes, n, place);
		} else if (stop == SCAN_SPECIAL) {
			n = size_of(d, bytes);
			err = special(d, bytes, n, place, &follow);
		} else {
			n = say_damage(d, bytes, size, at_end, stop, place);
		}
		input_advance(&d->in, n);
		if (follow)
			skip(d, follow, place);
	}
	if (!err && d->decompress.end > d->decompress.start)
		err = put_decompressed(d, d->limit, true);
	return err;
}

static void set_roles(struct decoder *d)
{
	static const struct {
		const char *name;
		enum special role;
	} roles[] = {{"header_attr", HEADER_ATTR},
		     {"header_feature", HEADER_FEATURE},
		     {"compressed", COMPRESSED},
		     {"compressed2", COMPRESSED}};

	for (unsigned type = 0; type < TYPES; type++) {
		int slot = d->events.slot_of[type];
		const struct abi_value *value = slot < 0 ? NULL : d->events.records[slot].value;

		if (!value || !d->events.is_tool[type])
			continue;
		if (json_object_get(value->json, "followed_by"))
			d->role[type] = FOLLOWED;
		for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
			if (!strcmp(value->name, roles[i].name))
				d->role[type] = roles[i].role;
		d->special[type] = d->role[type] != PLAIN;
	}
}

/* The header line goes out before what was found wrong while it was made. */
static int put_header(struct decoder *d,
		      int (*make)(struct decoder *, struct out *, struct error *), struct error *e)
{
	struct out said, line;
	int err = out_init(&said, NULL, NULL);

	if (err)
		return err;
	err = out_init(&line, d->options->check || d->first ? NULL : d->sink, d->context);
	if (!err) {
		d->lines.out = &said;
		err = make(d, &line, e);
		d->lines.out = &d->out;
		if (!err && !d->options->check && !d->first)
			err = out_flush(&line);
		if (!err && !d->first && said.at > said.base)
			err = d->sink(d->context, said.base, (size_t)(said.at - said.base));
		out_free(&line);
	}
	out_free(&said);
	return err;
}

static struct perfdata *file_of(struct decoder *d);

static int make_perfdata_header(struct decoder *d, struct out *out, struct error *e)
{
	return perfdata_header(file_of(d), &d->in, &d->events, &d->lines, out, e);
}

struct whole { /* a decoder with what only its beginning needs */
	struct decoder d;
	struct perfdata file;
	struct ring ring;
	struct attr_list attrs;
};

static struct perfdata *file_of(struct decoder *d)
{
	return &((struct whole *)d)->file;
}

/* The part of the bytes from `offset` on that is this shard's; the header is the first one's. */
static void set_shard(struct decoder *d, uint64_t offset, uint64_t size)
{
	const struct perfabi_options *o = d->options;

	if (o->shards < 2)
		return;
	d->first = o->shard == 1 ? 0 : offset + size / o->shards * (o->shard - 1);
	d->last = o->shard == o->shards ? UINT64_MAX : offset + size / o->shards * o->shard;
}

static int begin_perfdata(struct whole *w, struct error *e)
{
	struct decoder *d = &w->d;
	struct segment data;
	int err = perfdata_open(&w->file, &d->in, d->events.order, e);

	if (!err && !w->file.is_pipe && !d->in.seekable)
		err = input_spool(&d->in);
	if (err)
		return err;
	if (w->file.is_pipe) {
		if (d->options->shards && !d->in.seekable)
			return error_text(e, NULL, "a pipe",
					  "a file, whose size is known, for --shard");
		input_advance(&d->in, PERFDATA_PIPE_HEADER);
		if (d->in.seekable) {
			d->limit = d->in.size;
			set_shard(d, PERFDATA_PIPE_HEADER, d->in.size);
		}
		return put_header(d, make_perfdata_header, e);
	}
	data = w->file.data;
	if (w->file.open_ended && data.offset <= d->in.size)
		data.size = d->in.size - data.offset;
	d->limit = data.offset + data.size;
	set_shard(d, data.offset, data.size);
	err = put_header(d, make_perfdata_header, e);
	if (err)
		return err;
	set_silence(d, (struct place){data.offset, -1});
	if (w->file.open_ended)
		lines_diagnostic(
			&d->lines, (struct place){PERFDATA_DATA_SIZE, -1}, "not-closed", 0,
			"data.size is 0: perf did not close this file; read on to its end");
	if (data.offset > d->in.size) {
		lines_diagnostic(&d->lines, (struct place){PERFDATA_DATA_OFFSET, -1},
				 "section-past-end", 0, "the data begins at %llu of %llu bytes",
				 (unsigned long long)data.offset, (unsigned long long)d->in.size);
		data.offset = d->in.size;
		data.size = 0;
	} else if (data.size > d->in.size - data.offset) {
		lines_diagnostic(&d->lines, (struct place){PERFDATA_DATA_SIZE, -1}, "truncated", 0,
				 "%llu bytes of data are announced, and %llu are there",
				 (unsigned long long)data.size,
				 (unsigned long long)(d->in.size - data.offset));
		data.size = d->in.size - data.offset;
	}
	input_select(&d->in, &data, 1);
	return pass_on(d);
}

static void put_list_header(struct whole *w, struct out *out, const char *format)
{
	struct decoder *d = &w->d;
	char *p = out_room(out, 128);

	if (!p)
		return;
	p = put_text(put_text(p, "{\"type\":\"header\",\"format\":\""), format);
	p = put_text(put_text(p, "\",\"byte_order\":\""),
		     d->events.order == BIG ? "big" : "little");
	out->at = put_text(p, "\",");
	attr_list_put(&w->attrs, &d->events, out);
}

static int make_ring_header(struct decoder *d, struct out *out, struct error *e)
{
	struct whole *w = (struct whole *)d;
	unsigned char page[RING_PAGE_MIN];
	char *p;

	(void)e;
	put_list_header(w, out, "ring");
	if (input_read_at(&d->in, 0, page, sizeof(page)) < (long)w->ring.page)
		return -EIO;
	p = out_room(out, record_longest(&w->ring.plan, w->ring.page));
	if (!p)
		return -ENOMEM;
	p = put_text(p, "\"page\":{");
	d->lines.record.order = d->events.order;
	d->lines.record.notes = false;
	record_put(&w->ring.plan, &d->lines.record, page, 0, (size_t)w->ring.page, 0, &p);
	d->lines.record.notes = d->options->bytes;
	out->at = put_text(put_close(put_text(put_close(p, '}'), ","), '}'), "\n");
	return out->err;
}

static int make_records_header(struct decoder *d, struct out *out, struct error *e)
{
	char *p;

	(void)e;
	put_list_header((struct whole *)d, out, "records");
	p = out_room(out, 16);
	if (p)
		out->at = put_text(put_close(p, '}'), "\n");
	return out->err;
}

/* Adds what --attr says to the events. */
static int take_attrs(struct whole *w, struct error *e)
{
	struct decoder *d = &w->d;
	int err;

	if (!d->options->attr)
		return error_text(e, NULL, "none",
				  "the attr of these records in JSON (--attr FILE): "
				  "this is no perf.data");
	err = attr_list_read(&w->attrs, d->abi, d->events.arch, d->options->attr,
			     d->options->attr_name ? d->options->attr_name : "attr", NULL, e);
	return err ? err : attr_list_add(&w->attrs, &d->events, e);
}

static int begin_ring(struct whole *w, struct error *e)
{
	struct decoder *d = &w->d;
	int err = d->in.seekable ? 0 : input_spool(&d->in);

	if (d->options->shards)
		return error_text(e, NULL, "an image of the mmap area",
				  "a perf.data or records for --shard");
	if (!err)
		err = take_attrs(w, e);
	if (!err)
		err = ring_open(&w->ring, d->abi, &d->in, d->events.order,
				attr_list_flag(&w->attrs, d->abi, "write_backward"), e);
	if (err)
		return err;
	err = put_header(d, make_ring_header, e);
	if (err)
		return err;
	d->lines.options.backward = attr_list_flag(&w->attrs, d->abi, "write_backward");
	input_select(&d->in, w->ring.segments, w->ring.segment_count);
	if (w->ring.lost_begin) {
		size_t size = input_fill(&d->in, FILL), n;
		uint64_t linear;
		struct place place = {input_offset(&d->in, 0, &linear), -1};

		n = scan_resync(&d->lines, input_bytes(&d->in), 0, size, input_at_end(&d->in));
		lines_diagnostic(&d->lines, place, "overwritten", n,
				 "the buffer was written more than once around: records before "
				 "this are lost");
		input_advance(&d->in, n < size ? n : size);
	}
	return pass_on(d);
}

static int begin_records(struct whole *w, struct error *e)
{
	struct decoder *d = &w->d;
	int err = take_attrs(w, e);

	if (!err && d->options->shards && !d->in.seekable)
		return error_text(e, NULL, "a pipe", "a file, whose size is known, for --shard");
	if (!err)
		set_shard(d, 0, d->in.size);
	return err ? err : put_header(d, make_records_header, e);
}

static int begin(struct whole *w, struct error *e)
{
	struct decoder *d = &w->d;
	enum perfabi_format format = d->options->format;
	enum byte_order order = host_order();
	size_t n = input_fill(&d->in, RING_PAGE_MIN);
	const unsigned char *bytes = input_bytes(&d->in);
	uint64_t size = d->in.seekable ? d->in.size : UINT64_C(1) << 48; /* of a pipe: not absurd */

	if (d->in.err)
		return fail(d, d->in.err, "reading: %s", strerror(-d->in.err));
	if (!n)
		return error_text(e, NULL, "no bytes at all", "a recording");
	if (format == PERFABI_AUTO && perfdata_detect(bytes, n, &order))
		format = PERFABI_PERF_DATA;
	else if (format == PERFABI_AUTO && ring_detect(d->abi, bytes, n, size, &order))
		format = PERFABI_RING;
	else if (format == PERFABI_AUTO)
		format = PERFABI_RECORDS;
	else if (format == PERFABI_PERF_DATA && !perfdata_detect(bytes, n, &order))
		return error_text(e, NULL, "other bytes", "PERFILE2 or PERFFILE at the beginning");
	else if (format == PERFABI_RING)
		ring_detect(d->abi, bytes, n, size, &order);
	if (format != PERFABI_PERF_DATA && d->options->order != PERFABI_HOST)
		order = d->options->order == PERFABI_BIG ? BIG : LITTLE;
	d->events.order = order;
	switch (format) {
	case PERFABI_PERF_DATA:
		return begin_perfdata(w, e);
	case PERFABI_RING:
		return begin_ring(w, e);
	default:
		return begin_records(w, e);
	}
}

static int check_options(struct decoder *d)
{
	const struct perfabi_options *o = d->options;

	if (o->shards && (o->shard < 1 || o->shard > o->shards))
		return fail(d, -EINVAL, "shard %u of %u: expected a number from 1 to %u", o->shard,
			    o->shards, o->shards);
	return 0;
}

static int load(struct decoder *d, const struct events *base, struct error *e)
{
	struct utsname u;
	int err = selection_make(&d->selection, d->options, base, e);

	if (!err)
		err = events_begin(&d->events, base, d->selection.fields, d->selection.field_count,
				   e);
	if (err)
		return err;
	d->abi = base->abi;
	d->events.arch = abi_arch(d->abi, d->options->machine ? d->options->machine
					  : uname(&u)         ? ""
							      : u.machine);
	if (d->options->machine && !d->events.arch)
		return error_text(e, NULL, d->options->machine, "a machine as uname -m names it");
	set_roles(d);
	return 0;
}

static int start(struct decoder *d)
{
	struct lines_options lines = d->selection.lines;
	unsigned jobs = d->options->check ? 1 : d->options->jobs; /* findings hang on the order */
	int err;

	if (jobs > 1) {
		d->jobs = jobs_start(jobs, &d->events, &lines, d->sink, d->context);
		if (!d->jobs)
			return -ENOMEM;
	}
	err = d->jobs ? out_init(&d->out, jobs_text, d->jobs)
		      : out_init(&d->out, d->sink, d->context);
	return err ? err : lines_init(&d->lines, &d->events, &lines, &d->out);
}

static int finish(struct decoder *d, int err)
{
	struct lines_sums sums = d->lines.sums;
	int late;

	if (d->jobs) {
		if (!err)
			err = out_flush(&d->out);
		late = jobs_end(d->jobs, &sums);
		d->jobs = NULL;
		err = err ? err : late;
		d->out.sink = d->sink;
		d->out.context = d->context;
	}
	d->result->diagnostics = sums.diagnostics;
	d->result->lost = sums.lost;
	d->result->records = sums.unknown;
	for (size_t i = 0; i < TYPES; i++)
		d->result->records += sums.records[i];
	if (!err && !d->options->no_summary && !d->options->shards && !d->options->header_only)
		lines_summary(&d->lines, &sums);
	if (!err)
		err = out_flush(&d->out);
	return err;
}

static void release(struct whole *w)
{
	struct decoder *d = &w->d;

	attr_list_free(&w->attrs);
	plan_free(&w->ring.plan);
	decompress_free(&d->decompress);
	lines_free(&d->lines);
	out_free(&d->out);
	events_free(&d->events);
	selection_free(&d->selection);
	input_close(&d->in);
	free(w);
}

struct perfabi {
	struct sources sources;
	bool own_sources;
	struct abi *abi;
	struct events base; /* what all recordings have in common */
};

static void error_text_of(const struct error *e, int err, char *text, size_t size)
{
	char where[600] = "";

	if (e->file[0])
		snprintf(where, sizeof(where), "%s:%d: %s: ", e->file, e->line, e->pointer);
	if (!error_is_set(e))
		snprintf(text, size, "%s", strerror(-err));
	else
		snprintf(text, size, "%sexpected %s, got %s%s%s%s", where, e->expected,
			 e->got[0] ? e->got : "nothing", e->nearest[0] ? " (nearest: \"" : "",
			 e->nearest, e->nearest[0] ? "\")" : "");
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

int perfabi_decode(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		   int (*sink)(void *context, const char *text, size_t size), void *context,
		   struct perfabi_result *result)
{
	struct whole *w = calloc(1, sizeof(*w));
	struct error e = {0};
	struct decoder *d;
	int err;

	*result = (struct perfabi_result){0};
	if (!w)
		return -ENOMEM;
	d = &w->d;
	d->options = options;
	d->result = result;
	d->sink = sink;
	d->context = context;
	d->last = UINT64_MAX;
	err = check_options(d);
	if (!err)
		err = load(d, &perfabi->base, &e);
	if (!err)
		err = input_open(&d->in, fd);
	if (!err)
		err = start(d);
	if (!err) {
		err = begin(w, &e);
		if (!err && !options->header_only)
			err = put_records(d);
		err = finish(d, err);
	}
	if (err && !result->message[0])
		error_text_of(&e, err, result->message, sizeof(result->message));
	release(w);
	return err;
}
