/* SPDX-License-Identifier: MIT */
/*
 * From the first record to the last: who handles which bytes. How a record becomes a line is in
 * lines.c, where records end in damage.c.
 */
#include "stream/decode.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/join.h"

/* So many bytes tell of a record whether it is believed, or it is: a window full. */
enum { BELIEVED = INPUT_WINDOW };

/* The records that are not only written. */
enum { PLAIN, HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE, TRACING_DATA, COMPRESSED, FOLLOWED };

/*
 * A queue, which is empty again before the decoder goes on.
 */

static int finds_add(struct finds *finds, struct find find)
{
	if (finds->first == finds->count)
		finds->first = finds->count = 0;
	if (list_grow(&finds->list, finds->count, &finds->capacity, sizeof(*finds->list)))
		return -ENOMEM;
	finds->list[finds->count++] = find;
	return 0;
}

static int finds_add_wrong(void *finds, const struct diagnostic *wrong)
{
	struct diagnostic *copy = malloc(sizeof(*copy));
	int err;

	if (!copy)
		return -ENOMEM;
	*copy = *wrong;
	err = finds_add(finds, (struct find){.place = wrong->place, .wrong = copy});
	if (err)
		free(copy);
	return err;
}

void finds_drop(struct finds *finds)
{
	free(finds->list[finds->first++].wrong);
}

void finds_free(struct finds *finds)
{
	while (finds_oldest(finds))
		finds_drop(finds);
	free(finds->list);
	*finds = (struct finds){0};
}

int decoder_fail(struct decoder *d, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(d->message, sizeof(d->message), format, args);
	va_end(args);
	return err;
}

/* From now on: what is said and counted belongs to that place, and may be another shard's. */
static void set_silence(struct decoder *d, struct place place)
{
	d->lines.options.silent = place.offset < d->first || place.offset >= d->last;
}

/* The part of a run that lies in the shard; the rest is only stepped over. */
static void cut_to_shard(struct decoder *d, const unsigned char **bytes, size_t *size,
			 struct place *place)
{
	size_t begin = 0, end;

	if (place->within >= 0) {
		*size = d->lines.options.silent ? 0 : *size;
		return;
	}
	while (begin < *size && place->offset + begin < d->first)
		begin += record_size(&d->events, *bytes + begin);
	end = begin;
	if (place->offset + *size <= d->last)
		end = *size;
	while (end < *size && place->offset + end < d->last)
		end += record_size(&d->events, *bytes + end);
	*bytes += begin;
	*size = end - begin;
	place->offset += begin;
	d->lines.options.silent = false; /* of what is left, if anything is */
}

/* Records to the decoder's own lines, or to whoever takes them instead. */
static int put_own(void *decoder, const unsigned char *bytes, size_t size, struct place place)
{
	struct decoder *d = decoder;

	if (d->options.finds)
		return finds_add(d->options.finds, (struct find){bytes, size, place, NULL});
	lines_put(&d->lines, bytes, size, place);
	return d->out.err;
}

/* Of bytes that no line has. */
static void count_passed_over(struct decoder *d, uint64_t n)
{
	d->lines.sums.passed_over += d->lines.options.silent ? 0 : n;
}

/* A record without a time goes out at once, as perf has it. */
static int sort_run(struct decoder *d, const unsigned char *bytes, size_t size, struct place place)
{
	int err = 0;

	while (size >= 8 && !err) {
		unsigned type = record_type(&d->events, bytes);
		size_t n = record_size(&d->events, bytes);
		uint64_t time;

		err = events_time(&d->events, type, bytes, n, &time);
		time = time == UINT64_MAX ? 0 : time;
		d->part->time = time ? time : d->part->time;
		if (!err)
			err = time ? sort_add(&d->sorter, time, bytes, n, place)
				   : put_own(d, bytes, n, place);
		if (!err && type == d->round_type && d->parts.dir < 0) /* a round of one file */
			err = sort_round(&d->sorter);
		bytes += n;
		size -= n;
		place_advance(&place, n);
	}
	return err;
}

static int put_run(struct decoder *d, const unsigned char *bytes, size_t size, struct place place)
{
	if (d->options.api.shards)
		cut_to_shard(d, &bytes, &size, &place);
	if (!size)
		return 0;
	if (d->options.api.sort)
		return sort_run(d, bytes, size, place);
	if (!d->jobs)
		return put_own(d, bytes, size, place);
	/* behind the decoder's own lines */
	return out_flush(&d->out) ? d->out.err : jobs_records(d->jobs, bytes, size, place);
}

/* Threads read the events that this changes. */
static int drain_for_formats(struct decoder *d, const unsigned char *bytes, size_t size)
{
	int err = d->jobs ? jobs_drain(d->jobs) : 0;

	return err ? err : perfdata_header_take_formats(&d->events, bytes, size);
}

/* The bytes behind a record that are not in its size: AUX data, tracing data. */
static int pass_over(struct decoder *d, const unsigned char *bytes, size_t size, uint64_t *follow)
{
	unsigned type = record_type(&d->events, bytes);
	int slot = d->events.slot_of[type];
	const struct abi_value *value = d->events.records[slot].value;
	const struct plan *plan = events_plan(&d->events, d->events.bare, slot);
	uint64_t align = value->followed_by.align;
	bool is_formats = !strcmp(value->name, "header_tracing_data");

	if (!plan)
		return -ENOMEM;
	*follow = 0;
	if (!plan_number(plan, value->followed_by.field, bytes, size, d->events.order, follow))
		return 0;
	if (size - 8 >= plan_fixed_size(plan) && size - 8 - plan_fixed_size(plan) >= *follow) {
		size = *follow; /* simpleperf has it inside */
		*follow = 0;
		return is_formats ? drain_for_formats(d, bytes + 8 + plan_fixed_size(plan), size)
				  : 0;
	}
	d->part->collects = is_formats ? FOLLOWS : 0;
	if (d->aux.dir >= 0 && !strcmp(value->name, "auxtrace") && size <= sizeof(d->aux.record)) {
		d->part->collects = AUX_DATA;
		memset(d->aux.record, 0, sizeof(d->aux.record));
		memcpy(d->aux.record, bytes, size);
	}
	if (align > 1 && *follow % align && *follow < UINT64_MAX - align)
		*follow += align - *follow % align;
	return 0;
}

/*
 * The length of the whole records that can be believed, and what comes then. One that does not fit
 * its layout may lead astray by its size. It is believed if a record that fits is behind it, or one
 * that does not and then another likely header.
 */
static size_t whole_records(struct decoder *d, const unsigned char *bytes, size_t size, bool at_end,
			    enum scan_stop *stop)
{
	size_t last[2], n, from;
	bool is_seen, is_none;

	n = scan_records(d->events.order, d->role, bytes, size, at_end, last, stop);
	is_seen = size - n >= 8;
	is_none = is_seen && !header_is_likely(&d->events, bytes + n);
	if (!n || (!is_none && *stop != SCAN_MORE) ||
	    lines_fits(&d->lines, bytes + last[0], n - last[0]))
		return n;
	from = last[0];
	if (last[0] && (is_none || !is_seen || !header_is_likely(&d->events, bytes + last[0])) &&
	    !lines_fits(&d->lines, bytes + last[1], last[0] - last[1]))
		from = last[1];
	if (!from && is_none)
		*stop = SCAN_MISFIT;
	return from || is_none || size < BELIEVED ? from : n;
}

static int compressed(struct decoder *d, const unsigned char *bytes, size_t size,
		      struct place place)
{
	const struct plan *plan = events_plan(&d->events, d->events.bare,
					      d->events.slot_of[record_type(&d->events, bytes)]);
	struct part *part = d->part;
	uint64_t length = UINT64_MAX;
	size_t payload = 8;

	if (!plan)
		return -ENOMEM;
	if (plan_number(plan, "data_size", bytes, size, d->events.order, &length))
		payload += plan_fixed_size(plan); /* COMPRESSED2: padding is behind it */
	if (length > size - payload)
		length = size - payload;
	if (part->decompress.start == part->decompress.end) /* nothing of the last one waits */
		part->inner.place.offset = place.offset;
	part->piece = (struct piece){true, bytes + payload, (size_t)length, place};
	return put_own(d, bytes, size, place);
}

/* A pipe's attr: the event, and the ids behind the attr. 0 or -ENOMEM. */
static int add_event(struct decoder *d, const unsigned char *bytes, size_t size, struct place place)
{
	size_t length = size >= 16 ? (size_t)load_word(bytes + 12, 4, d->events.order) : 0;
	size_t smallest = d->events.abi->attr_smallest;
	int event, err;

	if (size < 8 + smallest)
		return 0;
	if (!length)
		length = smallest;
	if (length < smallest || length > size - 8)
		return 0;
	err = perfdata_header_add_attr(&d->events, bytes + 8, length, place.offset + 8, &d->lines,
				       &event);
	for (size_t at = 8 + length; !err && at + 8 <= size; at += 8)
		err = perfdata_header_add_id(&d->events, load_word(bytes + at, 8, d->events.order),
					     place, &d->lines, &event);
	lines_no_ids(&d->lines, &d->events, place);
	return err ? err : decoder_tracefs(d);
}

int decoder_tracefs(struct decoder *d)
{
	const char *folder = d->options.api.tracefs;
	struct events *events = &d->events;
	int err;

	if (!folder || !events->formatless)
		return 0;
	d->options.api.tracefs = NULL; /* all that it has is read at once */
	err = formats_add_tracefs(&events->formats, d->events.abi, folder);
	events_set_formats(events);
	if (err && err != -ENOMEM)
		return decoder_fail(d, err, "%s/events: %s", folder, strerror(-err));
	return err ? err : names_by_formats(events);
}

/* A record of more than 64 KiB, which simpleperf writes. */
static int large(struct decoder *d, const unsigned char *bytes, struct place place,
		 uint64_t *follow)
{
	uint64_t size = size_is_large(d->events.order, bytes);
	unsigned type = record_type(&d->events, bytes);

	if (d->events.slot_of[type] < 0 || d->options.finds)
		lines_diagnostic(&d->lines, place, "unknown-type", 0,
				 "a record of %llu bytes is passed over", (unsigned long long)size);
	else
		lines_put_large(&d->lines, bytes, size, place);
	*follow = size - 8;
	d->part->collects = d->role[type] == TRACING_DATA ? IN_LARGE : 0;
	return d->out.err;
}

/* A record that is more than written; in a compressed one it tells nothing but formats. */
static int special(struct decoder *d, const unsigned char *bytes, size_t size, struct place place)
{
	bool is_inner = place.within >= 0;
	uint64_t *follow = is_inner ? &d->part->decompress.follow : &d->part->follow;
	unsigned type = record_type(&d->events, bytes);
	const struct abi_value *value;
	uint8_t role = d->role[type];
	int err = 0;

	if (size_is_large(d->events.order, bytes))
		return large(d, bytes, place, follow);
	value = d->events.records[d->events.slot_of[type]].value;
	if (role == FOLLOWED)
		err = pass_over(d, bytes, size, follow);
	else if (is_inner)
		lines_diagnostic(&d->lines, place, "misplaced", 0,
				 "%s inside a compressed record: its contents are not used",
				 value->name);
	else if (role == COMPRESSED)
		return compressed(d, bytes, size, place);
	else if (d->jobs)
		err = jobs_drain(d->jobs);
	if (!err)
		err = put_own(d, bytes, size, place);
	if (err || is_inner)
		return err;
	if (role == HEADER_ATTR)
		err = add_event(d, bytes, size, place);
	else if (role == HEADER_FEATURE && size >= 16)
		err = perfdata_header_take_feature(&d->events,
						   load_word(bytes + 8, 8, d->events.order),
						   bytes + 16, size - 16);
	else if (role == TRACING_DATA && size > 12)
		err = perfdata_header_take_formats(&d->events, bytes + 12, size - 12);
	else if (role == EVENT_UPDATE)
		err = names_by(&d->events, value, bytes, 8, size);
	return err;
}

/* Of the whole records that the window begins with, *n bytes, those that lie together. */
static int put_window(struct decoder *d, const unsigned char *bytes, size_t *n, struct place place)
{
	uint64_t linear;
	size_t cut = 0; /* behind the last record that begins before the ring wraps */

	input_offset(&d->part->in, 0, &linear);
	while (*n > linear && cut < linear)
		cut += record_size(&d->events, bytes + cut);
	*n = cut ? cut : *n;
	if (!d->jobs || d->options.api.shards || d->options.api.sort)
		return put_run(d, bytes, *n, place);
	return out_flush(&d->out) ? d->out.err : jobs_window(d->jobs, &d->part->in, *n, place);
}

/*
 * The records that these bytes begin with, or what is there instead: *n of them are done with. None
 * are where more is needed to tell, or where `damage` begins. 0 or a negative errno.
 */
static int take_bytes(struct decoder *d, const unsigned char *bytes, size_t size, bool at_end,
		      struct place place, struct damage *damage, size_t *n)
{
	bool is_inner = place.within >= 0;
	enum scan_stop stop;

	*n = 0;
	if (damage->active) {
		if (at_end || size >= SCAN_ENOUGH)
			*n = damage_pass(damage, &d->lines, bytes, size, at_end);
		return d->out.err;
	}
	*n = whole_records(d, bytes, size < INPUT_WINDOW ? size : INPUT_WINDOW,
			   at_end && size <= INPUT_WINDOW, &stop);
	if (*n)
		return is_inner ? put_run(d, bytes, *n, place) : put_window(d, bytes, n, place);
	if (stop == SCAN_SPECIAL) {
		*n = size_is_large(d->events.order, bytes) ? 8 : record_size(&d->events, bytes);
		return special(d, bytes, *n, place);
	}
	if (stop != SCAN_MORE) {
		damage_begin(damage, &d->events, bytes, size, stop, place);
		damage->lacks_bytes = !is_inner && d->format != PERFABI_RING;
	}
	return d->out.err;
}

/* Whole records out of the decompressed stream; at_end: no more of it comes, and what it still
 * holds is said, and what it should have had. */
static int put_decompressed(struct decoder *d, bool at_end)
{
	struct part *part = d->part;
	struct decompress *z = &part->decompress;
	struct place place = {part->piece.place.offset, (int64_t)z->position, part->number};
	int err = 0;

	while (!err && z->start < z->end) {
		bool was_active = part->inner.active;
		size_t size = z->end - z->start, n = size < z->follow ? size : (size_t)z->follow;

		z->follow -= n; /* bytes that follow a record and are none */
		count_passed_over(d, n);
		if (!n)
			err = take_bytes(d, z->bytes + z->start, size, at_end, place, &part->inner,
					 &n);
		if (!n && part->inner.active == was_active)
			break;
		z->start += n;
		z->position += n;
		place.within = (int64_t)z->position;
	}
	if (err || !at_end)
		return err;
	if (part->inner.active)
		damage_end(&part->inner, &d->lines);
	if (z->follow)
		lines_diagnostic(
			&d->lines, place, "truncated", 0,
			"%llu more bytes should follow the last record of the compressed data",
			(unsigned long long)z->follow);
	z->follow = 0;
	if (z->is_cut)
		lines_diagnostic(&d->lines, place, "zstd", z->waiting,
				 "the compressed data ends inside a block, whose end is missing");
	return d->out.err;
}

/*
 * As much of a compressed record as there is room for. Damage that goes on in the next one is said
 * of each, and in the shard of each: of this one all that has been passed over. Bytes that are too
 * few to tell wait for the next.
 */
static int decompress_step(struct decoder *d)
{
	struct piece *piece = &d->part->piece;
	struct decompress *z = &d->part->decompress;
	struct place place = piece->place;
	const char *why;
	int bad = 0, err = 0;

	set_silence(d, place);
	if (piece->left || z->holds_more) {
		bad = decompress_some(z, &piece->input, &piece->left, &why);
		if (bad == -ENOMEM)
			return bad;
		err = put_decompressed(d, bad);
	}
	if (bad) /* what came before is whole, what is left is lost */
		lines_diagnostic(&d->lines, place, "zstd", piece->left,
				 "compressed data that zstd does not take: %s", why);
	if (err || (!bad && (piece->left || z->holds_more)))
		return err;
	piece->active = false;
	place.within = (int64_t)z->position;
	if (d->part->inner.active)
		damage_interrupt(&d->part->inner, &d->lines, place);
	return d->out.err;
}

int decoder_open_part(struct decoder *d, struct part *part)
{
	unsigned number = part->number - 1;
	struct stat st = {0};
	int err;

	part->fd = parts_open(&d->parts, part->number ? &number : NULL, &st);
	err = part->fd < 0 ? part->fd : 0;
	if (!err && part->state == NOT_OPEN)
		err = input_open(&part->in, part->fd);
	else if (!err && (st.st_dev != part->st.st_dev || st.st_ino != part->st.st_ino))
		err = -ESTALE;
	part->in.fd = part->fd;
	part->state = IS_OPEN;
	part->st = st;
	if (err && part->number)
		decoder_fail(d, err, "data.%u: %s", number, input_why(err));
	else if (err && err != -ENOENT) /* of a directory that is no recording */
		decoder_fail(d, err, "data: %s", input_why(err));
	return err;
}

static void close_part(struct part *part)
{
	input_close(&part->in);
	decompress_free(&part->decompress);
	if (part->fd >= 0)
		close(part->fd);
	part->fd = -1;
}

/* Behind the last record of a file. 0 or a negative errno. */
static int end_part(struct decoder *d)
{
	struct part *part = d->part;
	struct place place = {.within = -1, .part = part->number};
	int err = part->in.err;

	if (!err && part->damage.active) /* a pipe: nothing was left to pass over when it ended */
		damage_end(&part->damage, &d->lines);
	/* Whatever comes now is said behind all else: by the last shard. */
	d->lines.options.silent = d->last != UINT64_MAX;
	if (!err && unpack_wrong(part->in.unpack))
		lines_diagnostic(&d->lines, place, "packed", 0, "%s",
				 unpack_wrong(part->in.unpack));
	if (!err)
		err = put_decompressed(d, true);
	if (part->in.err && part->number)
		decoder_fail(d, err, "data.%u: %s", part->number - 1, input_why(err));
	part->state = AT_END;
	return err;
}

static bool comes_before(const struct part *a, const struct part *b)
{
	return a->time < b->time || (a->time == b->time && a->number < b->number);
}

/*
 * Goes on with the file whose records have come least far in time. So files advance together, and
 * when the sorter is full, what it puts out is older than what is still to be read. Only one has a
 * descriptor: all reads say where. 0 or a negative errno.
 */
static int take_turns(struct decoder *d)
{
	struct part *was = d->part, **turns = d->turns;
	size_t at = 0, next;

	if (was->state == AT_END && d->turn_count) {
		close_part(was);
		turns[0] = turns[--d->turn_count];
	}
	for (; (next = 2 * at + 1) < d->turn_count; at = next) {
		struct part *down = turns[at];

		next += next + 1 < d->turn_count && comes_before(turns[next + 1], turns[next]);
		if (!comes_before(turns[next], down))
			break;
		turns[at] = turns[next];
		turns[next] = down;
	}
	if (d->turn_count)
		d->part = turns[0];
	if (d->part == was)
		return 0;
	if (was->fd >= 0)
		close(was->fd);
	was->fd = -1;
	return d->part->in.spooled ? 0 : decoder_open_part(d, d->part);
}

/* Behind the last record of all. 0 or a negative errno. */
static int end_records(struct decoder *d)
{
	int err = 0;

	lines_no_formats(&d->lines, &d->events, place_at(0));
	if (!d->options.api.sort)
		return d->out.err;
	err = sort_end(&d->sorter);
	if (!err && d->lines.join)
		lines_put_held(&d->lines, true);
	if (!err && d->sorter.late)
		lines_diagnostic(&d->lines, d->sorter.first_late, "late", 0,
				 "%llu records came after newer ones had been printed; this is the "
				 "first",
				 (unsigned long long)d->sorter.late);
	return err ? err : d->out.err;
}

/* Tracing data behind a record, from the byte on at which its own form begins. 0 or -ENOMEM. */
static int collect_formats(struct decoder *d, uint64_t *taken)
{
	size_t size = (size_t)d->part->follow, from = d->part->collects == IN_LARGE ? 4 : 0;
	unsigned char *bytes = malloc(size ? size : 1);
	const unsigned char *some;
	int err = bytes ? 0 : -ENOMEM;
	size_t n;

	while (!err && (n = input_take(&d->part->in, size - *taken, &some))) {
		memcpy(bytes + *taken, some, n);
		*taken += n;
	}
	if (!err && *taken > from)
		err = drain_for_formats(d, bytes + from, (size_t)*taken - from);
	free(bytes);
	return err;
}

static int skip(struct decoder *d)
{
	struct place place = d->part->follow_place;
	uint64_t follow = d->part->follow, skipped = 0;
	int err = 0;

	set_silence(d, place);
	if (d->part->collects == AUX_DATA) {
		err = aux_take(d, &skipped);
		if (err)
			decoder_fail(d, err, "writing AUX data to %s: %s", d->options.api.aux,
				     strerror(-err));
	} else if (d->part->collects && follow <= TRACING_DATA_MAX) {
		err = collect_formats(d, &skipped);
	} else {
		skipped = input_skip(&d->part->in, follow);
	}
	d->part->collects = 0;
	d->part->follow = 0;
	count_passed_over(d, skipped);
	if (skipped < follow)
		lines_diagnostic(&d->lines, place, "truncated", 0,
				 "%llu bytes should follow this record, and %llu do",
				 (unsigned long long)follow, (unsigned long long)skipped);
	return err ? err : d->out.err;
}

int decoder_step(struct decoder *d, bool *more)
{
	struct part *part = d->part;
	const unsigned char *bytes;
	struct place place = place_at(0);
	size_t size, want, n;
	uint64_t linear;
	int err;

	*more = true;
	if (part->follow)
		return skip(d);
	err = take_turns(d);
	part = d->part;
	if (!err && part->piece.active)
		return decompress_step(d);
	/* what there is goes out before a pipe is waited for */
	if (!err && !part->in.seekable && input_would_block(&part->in)) {
		err = out_flush(&d->out);
		if (!err && d->jobs)
			err = jobs_drain(d->jobs);
	}
	*more = part->state != AT_END;
	if (err || !*more)
		return err ? err : end_records(d);
	want = part->in.seekable ? FILL : 1;
	size = input_fill(&part->in, part->wanted > want ? part->wanted : want);
	bytes = input_bytes(&part->in);
	if (!size || part->in.err)
		return end_part(d);
	place.part = part->number;
	place.offset = input_offset(&part->in, 0, &linear);
	set_silence(d, part->damage.active ? part->damage.place : place);
	err = take_bytes(d, bytes, size, input_at_end(&part->in), place, &part->damage, &n);
	part->wanted = n ? 0 : part->damage.active ? SCAN_ENOUGH : size + 1;
	input_advance(&part->in, n); /* the bytes stay where they are until more are read */
	part->follow_place = place;
	return err;
}

/* Which records are more than written. */
static void set_roles(struct decoder *d)
{
	static const struct {
		const char *name;
		uint8_t role;
	} roles[] = {{"header_attr", HEADER_ATTR},   {"header_feature", HEADER_FEATURE},
		     {"event_update", EVENT_UPDATE}, {"simpleperf_tracing_data", TRACING_DATA},
		     {"compressed", COMPRESSED},     {"compressed2", COMPRESSED}};

	for (size_t slot = 0; slot < d->events.record_count; slot++) {
		const struct abi_value *value = d->events.records[slot].value;
		unsigned type = type_index((uint32_t)value->value);

		if (!d->events.is_tool[type])
			continue;
		if (value->followed_by.field)
			d->role[type] = FOLLOWED;
		for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
			if (!strcmp(value->name, roles[i].name))
				d->role[type] = roles[i].role;
		if (!strcmp(value->name, "finished_round"))
			d->round_type = type;
	}
}

int decoder_init(struct decoder *d, const struct events *base, const struct decode_options *options,
		 int (*sink)(void *context, const char *text, size_t size), void *context)
{
	/* findings hang on the order */
	unsigned jobs = options->lines.strict || options->api.sort ? 1 : options->api.jobs;
	int err;

	*d = (struct decoder){.options = *options,
			      .sink = sink,
			      .context = context,
			      .parts = {.dir = -1},
			      .data = {.fd = -1},
			      .part = &d->data,
			      .aux = {.dir = -1, .index = -1},
			      .sorter = {.put = put_own, .to = d, .most = SORT_BYTES},
			      .last = UINT64_MAX};
	err = events_begin(&d->events, base, &options->with);
	if (!err)
		err = out_init(&d->out, sink, context);
	if (err)
		return err;
	if (options->api.order)
		d->events.order = options->api.order == PERFABI_BIG ? BIG : LITTLE;
	d->events.arch_is_given = options->arch_is_given;
	set_roles(d);
	lines_init(&d->lines, &d->events, &options->lines, &d->out);
	if (options->api.join) {
		d->lines.join = join_new(&d->events, &d->options.api);
		if (!d->lines.join)
			return -ENOMEM;
	}
	if (options->api.output) {
		d->lines.profile = profile_new(options->api.output, options->api.event, &d->events);
		if (!d->lines.profile)
			return -ENOMEM;
	}
	if (options->finds) {
		d->lines.say = finds_add_wrong;
		d->lines.say_to = options->finds;
	}
	if (jobs <= 1)
		return 0;
	d->jobs = jobs_start(jobs, &d->events, &options->lines, sink, context);
	d->out.sink = jobs_text;
	d->out.context = d->jobs;
	return d->jobs ? 0 : -ENOMEM;
}

int decoder_end(struct decoder *d, int err, struct lines_sums *sums)
{
	const struct perfabi_options *o = &d->options.api;
	int late;

	*sums = d->lines.sums;
	if (d->jobs) {
		if (!err)
			err = out_flush(&d->out);
		late = jobs_end(d->jobs, sums);
		d->jobs = NULL;
		err = err ? err : late;
		d->out.sink = d->sink;
		d->out.context = d->context;
	}
	if (!err && d->lines.profile) {
		err = profile_end(d->lines.profile, &d->out);
		if (err > 0)
			return decoder_fail(d, -EINVAL,
					    "expected samples of an event called \"%s\", got none",
					    o->event);
	}
	if (!err && !o->no_summary && !o->shards && !o->header_only)
		lines_summary(&d->lines, sums);
	return err ? err : out_flush(&d->out);
}

void decoder_free(struct decoder *d)
{
	plan_free(&d->ring.plan);
	close_part(&d->data);
	for (size_t i = 0; d->more && i < d->parts.count; i++)
		close_part(&d->more[i]);
	free(d->more);
	free(d->turns);
	free(d->parts.numbers);
	if (d->lines.join)
		join_free(d->lines.join);
	if (d->lines.profile)
		profile_free(d->lines.profile);
	lines_free(&d->lines);
	out_free(&d->out);
	events_free(&d->events);
	aux_close(&d->aux);
	sort_free(&d->sorter);
}
