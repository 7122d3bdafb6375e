/* SPDX-License-Identifier: MIT */
/*
 * A recording record by record. The decoder goes a step where nothing of the last one is left.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "call.h"
#include "include/perfabi.h"
#include "plan/plan.h"
#include "text/ascii.h"

/*
 * The kernel moves data_head behind what it wrote, the reader data_tail behind what it read; each
 * is read with acquire and written with release by the other. A ring is smaller than 2^32 bytes, so
 * that the lower 32 bits of a counter tell how far it went; on a machine of 32 bits no more of it
 * can be read at once, nor is there more.
 */

struct live_ring {
	unsigned char *head, *tail; /* the two counters in the metadata page */
	const unsigned char *data;
	uint64_t size;       /* bytes of data, 2^n */
	uint64_t position;   /* counter of the next record */
	uint64_t passed;     /* what data_tail is to be: behind all that is done with */
	unsigned char *copy; /* of a record that goes around the end */
};

enum { RECORD_MAX = 65536, RECORD_HEADER = 8, PAGE_LEAST = 4096 };

/* The part of a counter that is read and written at once. */
static uint32_t *low_half(unsigned char *counter)
{
	return (uint32_t *)(void *)(counter + (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0));
}

/* How far ahead of what was read the kernel has written. */
static uint64_t written_ahead(const struct live_ring *ring)
{
	uint32_t head = __atomic_load_n(low_half(ring->head), __ATOMIC_ACQUIRE);

	return (uint32_t)(head - (uint32_t)ring->position);
}

/* Tells the kernel that what was given so far is done with. */
static void live_ring_pass(struct live_ring *ring)
{
	if (ring->passed == ring->position)
		return;
	ring->passed = ring->position;
#if __SIZEOF_POINTER__ == 8
	__atomic_store_n((uint64_t *)(void *)ring->tail, ring->passed, __ATOMIC_RELEASE);
#else
	__atomic_store_n(low_half(ring->tail), (uint32_t)ring->passed, __ATOMIC_RELEASE);
#endif
}

static uint64_t number_in_page(const struct plan *plan, const unsigned char *page, const char *name)
{
	uint64_t value = 0;

	plan_number(plan, name, page, PAGE_LEAST, host_order(), &value);
	return value;
}

static bool is_power(uint64_t n)
{
	return n && !(n & (n - 1));
}

static int find_data(struct live_ring *ring, const struct plan *plan, unsigned char *area,
		     size_t size, struct error *e)
{
	uint64_t offset = number_in_page(plan, area, "data_offset");
	int head = plan_offset(plan, "data_head"), tail = plan_offset(plan, "data_tail");
	char got[96];

	ring->size = number_in_page(plan, area, "data_size");
	if (!ring->size) { /* before 4.1: all pages behind the first */
		offset = PAGE_LEAST;
		while (offset < size && !is_power(size - offset))
			offset *= 2;
		ring->size = size > offset ? size - offset : 0;
	}
	snprintf(got, sizeof(got), "data_offset %llu, data_size %llu in %zu bytes",
		 (unsigned long long)offset, (unsigned long long)ring->size, size);
	if (!is_power(ring->size) || ring->size > UINT32_MAX || offset < PAGE_LEAST ||
	    offset > size || ring->size > size - offset || head < 0 || tail < 0)
		return error_text(e, NULL, got, "2^n data pages behind the metadata page");
	ring->head = area + head;
	ring->tail = area + tail;
	ring->data = area + offset;
	return 0;
}

/*
 * `area` has `size` bytes, a metadata page and 2^n data pages, and must outlive it. 0, -ENOMEM, or
 * -EINVAL with `e` filled. Free with live_ring_free().
 */
static int live_ring_open(struct live_ring *ring, const struct abi *abi, void *area, size_t size,
			  struct error *e)
{
	const struct plan_for with = {.abi = abi};
	struct plan plan;
	int err;

	*ring = (struct live_ring){0};
	if (size < PAGE_LEAST || (uintptr_t)area % 8)
		return error_text(e, NULL,
				  size < PAGE_LEAST ? "less than one page"
						    : "an address that no page has",
				  "what mmap(2) gave: a metadata page and 2^n data pages");
	err = plan_make(&plan, &with, abi_layout(abi, "mmap_page"));
	if (err)
		return err;
	err = find_data(ring, &plan, area, size, e);
	plan_free(&plan);
	if (err)
		return err;
	ring->copy = malloc(RECORD_MAX);
	if (!ring->copy)
		return -ENOMEM;
	memcpy(&ring->position, ring->tail, sizeof(ring->position));
	ring->passed = ring->position;
	return 0;
}

/* `n` bytes from the position on; they are whole in the ring. */
static const unsigned char *bytes_at(const struct live_ring *ring, size_t n)
{
	uint64_t at = ring->position & (ring->size - 1), first = ring->size - at;

	if (n <= first)
		return ring->data + at;
	memcpy(ring->copy, ring->data + at, (size_t)first);
	memcpy(ring->copy + first, ring->data, n - (size_t)first);
	return ring->copy;
}

/*
 * The next record that is whole, and its place in the data; what it gave before is done with then.
 * 1, 0 if there is none now, or -EBADMSG: what should be its header cannot be one.
 */
static int live_ring_next(struct live_ring *ring, const unsigned char **bytes, uint64_t *offset)
{
	uint64_t ahead;
	uint16_t size;

	live_ring_pass(ring);
	ahead = written_ahead(ring);
	if (!ahead)
		return 0;
	if (ahead > ring->size || ahead < RECORD_HEADER)
		return -EBADMSG;
	size = (uint16_t)load_word(bytes_at(ring, RECORD_HEADER) + 6, 2, host_order());
	if (size < RECORD_HEADER || size > ahead)
		return -EBADMSG;
	*bytes = bytes_at(ring, size);
	*offset = ring->position & (ring->size - 1);
	ring->position += size;
	return 1;
}

static void live_ring_free(struct live_ring *ring)
{
	if (ring->tail)
		live_ring_pass(ring);
	free(ring->copy);
}

struct perfabi_reader {
	struct call call;
	struct live_ring ring;
	bool is_ring;
	struct finds coming; /* what the last step found, ... */
	struct finds said;   /* ... and what was found wrong while a record was taken */
	bool is_last_step;
	bool is_taken; /* `record` is to be handed out behind what was said of it */
	int err;       /* from now on */
	struct perfabi_record record, wrong; /* what was handed out, or is to be */
	struct finds *handed;                /* the queue whose oldest `wrong` is; NULL: none */
	struct perfabi_field *fields;        /* of `record` */
	size_t field_capacity;
};

static int drop_text(void *context, const char *text, size_t size)
{
	(void)context;
	(void)text;
	(void)size;
	return 0;
}

/* In place of what call_begin() made of it, where that did not come to anything. */
static int open_failed(struct perfabi_reader *reader, int err, struct perfabi_result *result)
{
	struct perfabi_result unwanted;

	err = call_result(&reader->call, err, &reader->call.decoder.lines.sums,
			  result ? result : &unwanted);
	perfabi_close(reader);
	return err;
}

/* A reader with nothing in it; NULL, with *result told, if there is no memory. */
static struct perfabi_reader *new_reader(struct perfabi_result *result)
{
	struct perfabi_reader *reader = calloc(1, sizeof(*reader));

	if (result)
		*result = (struct perfabi_result){0};
	if (!reader && result)
		call_error_text(&(struct error){0}, -ENOMEM, result->message,
				sizeof(result->message));
	return reader;
}

static int open_reader(const struct perfabi *perfabi, const struct call_input *input,
		       const struct perfabi_options *options, struct perfabi_reader **out,
		       struct perfabi_result *result)
{
	struct perfabi_reader *reader = new_reader(result);
	struct call_for what = {.sink = drop_text};
	int err;

	*out = NULL;
	if (!reader)
		return -ENOMEM;
	what.finds = &reader->coming;
	err = call_begin(&reader->call, perfabi, input, options, &what);
	if (err)
		return open_failed(reader, err, result);
	*out = reader;
	return 0;
}

int perfabi_open(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		 struct perfabi_reader **reader, struct perfabi_result *result)
{
	const struct call_input input = {.fd = fd};

	return open_reader(perfabi, &input, options, reader, result);
}

int perfabi_open_memory(const struct perfabi *perfabi, const void *bytes, size_t size,
			const struct perfabi_options *options, struct perfabi_reader **reader,
			struct perfabi_result *result)
{
	const struct call_input input = {.memory = bytes, .size = size, .in_memory = true};

	return open_reader(perfabi, &input, options, reader, result);
}

/* The ring and its attrs. */
static int begin_live(struct perfabi_reader *reader, const struct perfabi *perfabi, void *area,
		      size_t size, const struct perfabi_options *options)
{
	const struct call_for what = {.sink = drop_text, .finds = &reader->coming};
	struct call *call = &reader->call;
	int err = call_begin_events(call, perfabi, options, &what);

	if (!err && options && options->order != PERFABI_HOST &&
	    (options->order == PERFABI_BIG) != (host_order() == BIG)) {
		call->option = "order";
		return error_text(&call->error, NULL, "the other one",
				  "the byte order of this machine, whose kernel writes the ring");
	}
	if (!err && attr_list_flag(&call->attrs, perfabi->abi, "write_backward")) {
		call->option = "attr";
		return error_text(&call->error, NULL, "write_backward",
				  "attrs of a ring that is written forward");
	}
	if (!err)
		err = live_ring_open(&reader->ring, perfabi->abi, area, size, &call->error);
	return err;
}

int perfabi_open_ring(const struct perfabi *perfabi, void *area, size_t size,
		      const struct perfabi_options *options, struct perfabi_reader **out,
		      struct perfabi_result *result)
{
	struct perfabi_reader *reader = new_reader(result);
	int err;

	*out = NULL;
	if (!reader)
		return -ENOMEM;
	reader->is_ring = true;
	err = begin_live(reader, perfabi, area, size, options);
	if (err)
		return open_failed(reader, err, result);
	*out = reader;
	return 0;
}

void perfabi_close(struct perfabi_reader *reader)
{
	if (!reader)
		return;
	live_ring_free(&reader->ring);
	finds_free(&reader->coming);
	finds_free(&reader->said);
	call_end(&reader->call);
	free(reader->fields);
	free(reader);
}

/* The fields that the decoder has, to where they may stay. */
static int keep_fields(struct perfabi_reader *reader)
{
	const struct record *r = &reader->call.decoder.lines.record;

	if (r->field_count > reader->field_capacity) {
		size_t capacity = r->field_capacity;
		struct perfabi_field *grown = realloc(reader->fields, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		reader->fields = grown;
		reader->field_capacity = capacity;
	}
	if (r->field_count)
		memcpy(reader->fields, r->fields, r->field_count * sizeof(*reader->fields));
	return 0;
}

/* One record as what is handed out. 1, 0 if its type is not asked for, or -ENOMEM. */
static int take_record(struct perfabi_reader *reader, const unsigned char *bytes,
		       struct place place, size_t *size)
{
	struct decoder *d = &reader->call.decoder;
	struct lines_record taken;

	d->lines.say_to = &reader->said;
	lines_take(&d->lines, bytes, place, &taken);
	d->lines.say_to = &reader->coming;
	*size = taken.size;
	if (d->out.err)
		return d->out.err;
	if (taken.taken == LINES_PASSED_BY)
		return 0;
	reader->record = (struct perfabi_record){
		.what = PERFABI_RECORD,
		.order = d->events.order == BIG ? PERFABI_BIG : PERFABI_LITTLE,
		.type = taken.type,
		.misc = taken.misc,
		.size = taken.size,
		.bytes = bytes,
		.name = taken.slot < 0 ? "UNKNOWN" : d->lines.begin[taken.slot].name,
		.event = taken.event < 0 ? -1 : taken.event,
		.offset = place.offset,
		.within = place.within,
		.field_count = d->lines.record.field_count,
		.own = taken.plan,
	};
	if (keep_fields(reader))
		return -ENOMEM;
	reader->record.fields = reader->fields;
	reader->is_taken = true;
	return 1;
}

/* The first record of a run that a step found. */
static int take_coming(struct perfabi_reader *reader, struct find *find)
{
	size_t size;
	int got = take_record(reader, find->bytes, find->place, &size);

	if (got < 0)
		return got;
	find->bytes += size;
	find->size -= size;
	if (find->place.within >= 0)
		find->place.within += (int64_t)size;
	else
		find->place.offset += size;
	if (!find->size)
		finds_drop(&reader->coming);
	return got;
}

/* What is wrong, from a queue in which it stays until the next call. */
static void hand_out_wrong(struct perfabi_reader *reader, struct finds *from,
			   const struct perfabi_record **record)
{
	const struct diagnostic *wrong = finds_oldest(from)->wrong;

	reader->handed = from;
	reader->wrong = (struct perfabi_record){
		.what = PERFABI_DIAGNOSTIC,
		.name = wrong->code,
		.event = -1,
		.grade = wrong->grade,
		.offset = wrong->place.offset,
		.within = wrong->place.within,
		.message = wrong->message,
		.skipped = wrong->skipped,
	};
	*record = &reader->wrong;
}

/* The next record of a ring, taken. 1, 0 if there is none now, or a negative errno. */
static int go_on_in_ring(struct perfabi_reader *reader)
{
	struct decoder *d = &reader->call.decoder;
	struct place place = {.within = -1};
	const unsigned char *bytes;
	size_t size;
	int got = live_ring_next(&reader->ring, &bytes, &place.offset);

	if (got < 0)
		return decoder_fail(
			d, got, "the ring holds no record at byte %llu of its data",
			(unsigned long long)(reader->ring.position & (reader->ring.size - 1)));
	if (got > 0 && take_record(reader, bytes, place, &size) < 0)
		return -ENOMEM;
	return got;
}

/* As much as is needed to have something to hand out. 1, 0 at the end, or a negative errno. */
static int go_on(struct perfabi_reader *reader)
{
	struct find *find = finds_oldest(&reader->coming);
	struct decoder *d = &reader->call.decoder;
	bool more = true;
	int err;

	if (find) {
		err = take_coming(reader, find);
		return err < 0 ? err : 1;
	}
	if (reader->is_ring)
		return go_on_in_ring(reader);
	if (reader->is_last_step)
		return 0;
	err = decoder_step(d, &more);
	reader->is_last_step = !more;
	return err ? err : d->out.err ? d->out.err : 1;
}

/* Whether there is something to hand out, which is done. */
static bool hand_out(struct perfabi_reader *reader, const struct perfabi_record **record)
{
	struct find *find = finds_oldest(&reader->coming);

	if (finds_oldest(&reader->said)) {
		hand_out_wrong(reader, &reader->said, record);
		return true;
	}
	if (reader->is_taken) {
		reader->is_taken = false;
		*record = &reader->record;
		return true;
	}
	if (!find || !find->wrong)
		return false;
	hand_out_wrong(reader, &reader->coming, record);
	return true;
}

int perfabi_next(struct perfabi_reader *reader, const struct perfabi_record **record)
{
	int got = reader->err ? reader->err : 1;

	if (reader->handed)
		finds_drop(reader->handed);
	reader->handed = NULL;
	while (got > 0 && !hand_out(reader, record))
		got = go_on(reader);
	if (got < 0)
		reader->err = got;
	if (got <= 0)
		*record = NULL;
	return got;
}

void perfabi_reader_result(const struct perfabi_reader *reader, struct perfabi_result *result)
{
	call_result(&reader->call, reader->err, &reader->call.decoder.lines.sums, result);
}

const struct perfabi_field *perfabi_field(const struct perfabi_record *record, uint32_t number)
{
	for (size_t i = 0; number && i < record->field_count; i++)
		if (record->fields[i].number == number)
			return &record->fields[i];
	return NULL;
}

/* An element's bytes are at the end of the array's, behind a count. */
uint64_t perfabi_element(const struct perfabi_record *record, const struct perfabi_field *field,
			 uint64_t index)
{
	unsigned width = field->width;
	uint64_t value;

	if (field->kind != PERFABI_ARRAY || index >= field->value)
		return 0;
	value = load_word(record->bytes + field->offset + field->size -
				  (field->value - index) * width,
			  width, record->order == PERFABI_BIG ? BIG : LITTLE);
	if (field->element == PERFABI_SIGNED && width < 8 && value >> (8 * width - 1))
		value |= UINT64_MAX << 8 * width;
	return value;
}

/* The names of the field's values; NULL: they have none. */
static const struct abi_family *value_names(const struct op *op)
{
	switch (op->kind) {
	case OP_SET:
	case OP_INDEX:
		return op->names.set;
	case OP_BITS:
		return op->bits.set;
	case OP_ARRAY:
		return op->array.markers;
	default:
		return NULL;
	}
}

const char *perfabi_value_name(const struct perfabi_record *record,
			       const struct perfabi_field *field, uint64_t value)
{
	const struct plan *plan = record->own;
	const struct abi_family *names = plan ? value_names(&plan->ops[field->own[0]]) : NULL;
	const struct abi_value *known = names ? abi_value_of(names, value) : NULL;

	return known ? known->name : NULL;
}
