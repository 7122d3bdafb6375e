/* SPDX-License-Identifier: MIT */
/*
 * The beginning: which of the formats, its attrs, where its records are, the header line.
 */
#include <errno.h>
#include <string.h>

#include "stream/decode.h"
#include "text/json.h"

/* Diagnostics of a header, which are kept until it is out; more of them are counted. */
enum { HEADER_DIAGNOSTICS = 1000 };

/* Of what has its attrs from --attr: a ring, with its metadata page, or records. */
static int make_list_header(struct decoder *d, struct out *out)
{
	struct place place = place_at(0);
	bool is_ring = d->format == PERFABI_RING;
	char *p;
	int err;

	out_format(out, "{\"type\":\"header\",\"format\":\"%s\",\"byte_order\":\"%s\",",
		   is_ring ? "ring" : "records", d->events.order == BIG ? "big" : "little");
	err = given_attrs_put(d->attrs, &d->events, out);
	if (err)
		return err;
	if (is_ring) {
		p = out_room(out,
			     record_longest(&d->ring.plan, &d->lines.raw, (size_t)d->ring.page));
		if (!p)
			return -ENOMEM;
		p = put_text(p, ",\"page\":{");
		d->lines.raw.order = d->events.order;
		record_put(&d->ring.plan, &d->lines.raw, d->ring.bytes, 0, (size_t)d->ring.page, 0,
			   &p);
		out->at = put_close(p, '}');
	}
	/* what of the attrs does not tell whose a record is */
	lines_id_clashes(&d->lines, &d->events, place);
	lines_no_ids(&d->lines, &d->events, place);
	err = out_text(out, "}\n");
	return err ? err : out->err;
}

/*
 * The header line goes out before what was found wrong while it was made. Both, and what is said of
 * the file before its records, are the first shard's.
 */
static int put_header(struct decoder *d)
{
	bool is_later = d->options.api.shards && d->options.api.shard > 1;
	int (*sink)(void *, const char *, size_t) = d->out.sink;
	struct out said;
	int err = out_init(&said, NULL, NULL);

	if (err)
		return err;
	d->lines.out = &said;
	d->lines.options.silent = is_later;
	d->lines.limit = HEADER_DIAGNOSTICS;
	if (is_later || d->options.no_header)
		d->out.sink = out_drop;
	err = d->format == PERFABI_PERF_DATA
		      ? perfdata_header_put(&d->file, &d->part->in, &d->events, &d->lines, &d->out)
		      : make_list_header(d, &d->out);
	d->lines.limit = 0;
	if (d->lines.unsaid)
		lines_diagnostic(&d->lines, place_at(0), "more", 0,
				 "%zu more diagnostics about the header", d->lines.unsaid);
	d->lines.out = &d->out;
	err = err ? err : said.err;
	if (!err)
		err = out_flush(&d->out);
	d->out.sink = sink;
	if (!err)
		err = out_append(&d->out, said.base, (size_t)(said.at - said.base));
	out_free(&said);
	return err;
}

static int no_shards_of(struct decoder *d, const char *got, const char *expected, struct error *e)
{
	d->option = "shards";
	return error_text(e, NULL, got, "%s, to decode one shard of it", expected);
}

/*
 * The part of the bytes from `offset` on that is this shard's; the header is the first one's. 0, or
 * -EINVAL with `e` filled.
 */
static int set_shard(struct decoder *d, uint64_t offset, uint64_t size, struct error *e)
{
	const struct perfabi_options *o = &d->options.api;

	if (o->shards && !d->part->in.seekable)
		return no_shards_of(d, "a pipe", "a file, whose size is known", e);
	if (o->shards < 2)
		return 0;
	if (size > UINT64_MAX - offset) /* that will be said; what there is is the first shard's */
		size = UINT64_MAX - offset;
	d->first = o->shard == 1 ? 0 : offset + size / o->shards * (o->shard - 1);
	d->last = o->shard == o->shards ? UINT64_MAX : offset + size / o->shards * o->shard;
	return 0;
}

static int spool(struct decoder *d)
{
	int err = input_spool(&d->part->in);

	return err ? decoder_fail(d, err, "writing a copy of the input to %s (TMPDIR): %s",
				  input_folder(), input_why(err))
		   : 0;
}

static int begin_perfdata(struct decoder *d, struct error *e)
{
	struct segment data;
	unsigned n = 0;
	int err = perfdata_open(&d->file, d->events.abi, &d->part->in, d->events.order, e);

	if (!err && !d->file.is_pipe && !d->part->in.seekable)
		err = spool(d);
	if (err)
		return err;
	if (d->file.is_pipe) {
		input_advance(&d->part->in, PERFDATA_PIPE_HEADER);
		err = set_shard(d, PERFDATA_PIPE_HEADER, d->part->in.size, e);
		return err ? err : put_header(d);
	}
	/* where the data is, as far as it is in the file */
	data = d->file.data;
	if (data.offset > d->part->in.size)
		data = (struct segment){d->part->in.size, 0};
	else if (d->file.open_ended || data.size > d->part->in.size - data.offset)
		data.size = d->part->in.size - data.offset;
	err = set_shard(d, data.offset, data.size, e);
	if (!err)
		err = put_header(d);
	if (err)
		return err;
	if (d->events.found) {
		input_select(&d->part->in, NULL, 0);
		return 0;
	}
	if (d->parts.dir < 0 && perfdata_has_feature(&d->file, d->events.abi, "dir_format"))
		lines_diagnostic(
			&d->lines, place_at(0), "parts", 0,
			"this is one file of a recording that is a directory, whose data.0, "
			"data.1, ... have the other records: decode the directory");
	while (n < d->parts.count && d->parts.numbers[n] == n) /* perf numbers them from 0 */
		n++;
	if (n < d->parts.count)
		lines_diagnostic(&d->lines, place_at(0), "parts", 0,
				 "data.%u is missing from the directory", n);
	if (d->file.open_ended)
		lines_diagnostic(
			&d->lines, place_at(PERFDATA_DATA_SIZE), "not-closed", 0,
			"data.size is 0: perf did not close this file; read on to its end");
	if (d->file.data.offset > d->part->in.size)
		lines_diagnostic(&d->lines, place_at(PERFDATA_DATA_OFFSET), "section-past-end", 0,
				 "the data begins at %llu of %llu bytes",
				 (unsigned long long)d->file.data.offset,
				 (unsigned long long)d->part->in.size);
	else if (d->file.data.size > data.size)
		lines_diagnostic(&d->lines, place_at(PERFDATA_DATA_SIZE), "truncated", 0,
				 "the header says %llu bytes of data, and %llu are there",
				 (unsigned long long)d->file.data.size,
				 (unsigned long long)data.size);
	input_select(&d->part->in, &data, 1);
	return d->out.err;
}

static int begin_ring(struct decoder *d, struct error *e)
{
	bool backward = d->events.is_backward;
	int err = ring_open(&d->ring, d->events.abi, &d->part->in, d->events.order, backward, e);

	if (!err)
		err = put_header(d);
	if (err)
		return err;
	d->lines.sums.passed_over += d->ring.unread; /* an AUX area, say */
	d->lines.options.backward = backward;
	d->lines.options.cut_end = d->ring.lost_end;
	input_select(&d->part->in, d->ring.segments, SEGMENTS);
	if (d->ring.lost_begin) {
		uint64_t linear;
		struct place place = place_at(input_offset(&d->part->in, 0, &linear));

		damage_begin(&d->part->damage, &d->events, NULL, 0, SCAN_MORE, place);
	}
	return d->out.err;
}

/* Of an image that may be cut short, or still come: what is not absurd. */
static const uint64_t RING_MOST = UINT64_C(1) << 48;

/* No more of a pipe is waited for than is needed. */
int decoder_find_format(struct decoder *d, struct error *e)
{
	enum perfabi_format wanted = d->options.api.format;
	enum byte_order order = d->events.order;
	size_t n = input_fill(&d->part->in, PERFDATA_PIPE_HEADER);
	bool is_perfdata = (wanted == PERFABI_AUTO || wanted == PERFABI_PERF_DATA) &&
			   perfdata_detect(input_bytes(&d->part->in), n, &order);
	int is_ring = 0;

	if (!is_perfdata && (wanted == PERFABI_AUTO || wanted == PERFABI_RING)) {
		n = input_fill(&d->part->in, RING_PAGE_MIN);
		is_ring =
			ring_detect(d->events.abi, input_bytes(&d->part->in), n, RING_MOST, &order);
	}
	if (is_ring < 0 || d->part->in.err)
		return is_ring < 0 ? is_ring : d->part->in.err;
	if (!n && unpack_wrong(d->part->in.unpack))
		return decoder_fail(d, -EINVAL, "%s", unpack_wrong(d->part->in.unpack));
	if (!n)
		return error_text(e, NULL, "empty input", "a recording");
	d->format = wanted        ? wanted
		    : is_perfdata ? PERFABI_PERF_DATA
		    : is_ring     ? PERFABI_RING
				  : PERFABI_RECORDS;
	if (d->format == PERFABI_PERF_DATA && !is_perfdata)
		return error_text(e, NULL, "other bytes", "PERFILE2 or PERFFILE at the beginning");
	if (d->format == PERFABI_RING && d->options.api.shards)
		return no_shards_of(d, "an image of the mmap area", "a perf.data or records", e);
	if (d->format == PERFABI_PERF_DATA || !d->options.api.order)
		d->events.order = order;
	return 0;
}

int decoder_begin(struct decoder *d, struct error *e)
{
	bool is_ring = d->format == PERFABI_RING;
	int err = is_ring && !d->part->in.seekable ? spool(d) : 0;

	if (d->format == PERFABI_PERF_DATA)
		return begin_perfdata(d, e);
	if (!err)
		err = given_attrs_add(d->attrs, &d->events, e);
	if (!err)
		err = decoder_tracefs(d);
	if (!err && is_ring)
		return begin_ring(d, e);
	if (!err)
		err = set_shard(d, 0, d->part->in.size, e);
	return err ? err : put_header(d);
}
