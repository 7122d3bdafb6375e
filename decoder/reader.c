/* SPDX-License-Identifier: MIT */
/*
 * A recording record by record. The decoder goes a step where nothing of the last one is left.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "library.h"
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

enum { RECORD_MAX = 65536, RECORD_HEADER = 8 };

/* The part of a counter that is read and written at once. */
static uint32_t *low_half(unsigned char *counter)
{
	return (uint32_t *)(void *)(counter + (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0));
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

/*
 * `area` has `size` bytes, a metadata page and 2^n data pages, and must outlive it. 0, -ENOMEM, or
 * -EINVAL with `e` filled. Free ring->copy.
 */
static int live_ring_open(struct live_ring *ring, const struct abi *abi, void *area, size_t size,
			  struct error *e)
{
	const struct plan_for with = {.abi = abi};
	unsigned char *page = area;
	int err, head, tail;
	struct segment data;
	struct plan plan;

	*ring = (struct live_ring){0};
	if (size < RING_PAGE_MIN || (uintptr_t)area % 8)
		return error_text(e, NULL,
				  size < RING_PAGE_MIN ? "less than one page"
						       : "an address that no page has",
				  "what mmap(2) gave: a metadata page and 2^n data pages");
	err = plan_make(&plan, &with, abi_layout(abi, "mmap_page"));
	if (err)
		return err;
	err = ring_find_data(&plan, page, host_order(), size, "", &data, e);
	head = plan_offset(&plan, "data_head");
	tail = plan_offset(&plan, "data_tail");
	plan_free(&plan);
	if (err)
		return err;
	if (data.size > UINT32_MAX || head < 0 || tail < 0)
		return error_text(e, NULL, "none", "2^n data pages behind the metadata page");
	ring->copy = malloc(RECORD_MAX);
	if (!ring->copy)
		return -ENOMEM;
	ring->head = page + head;
	ring->tail = page + tail;
	ring->data = page + data.offset;
	ring->size = data.size;
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
	ahead = (uint32_t)(__atomic_load_n(low_half(ring->head), __ATOMIC_ACQUIRE) -
			   (uint32_t)ring->position);
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

struct perfabi_reader {
	struct call call;
	struct live_ring ring;
	struct finds coming; /* what the last step found, ... */
	struct find run;     /* ... the records of it that come next, ... */
	struct finds said;   /* ... and what was found wrong while one of them was taken */
	bool is_last_step;
	bool is_taken; /* `record` is to be handed out behind what was said of it */
	int err;       /* from now on */
	uint32_t kind; /* of the last record */
	struct perfabi_record record, wrong; /* what was handed out, or is to be */
	struct finds *handed;                /* the queue whose oldest `wrong` is; NULL: none */
};

/* The ring and its attrs. */
static int begin_live(struct perfabi_reader *reader, const struct perfabi *perfabi, void *area,
		      size_t size, const struct perfabi_options *options,
		      const struct call_for *what)
{
	struct call *call = &reader->call;
	int err = call_begin_events(call, perfabi, options, what);

	if (!err && options && options->order != PERFABI_HOST &&
	    (options->order == PERFABI_BIG) != (host_order() == BIG)) {
		call->decoder.option = "order";
		return error_text(&call->error, NULL, "the other one",
				  "the byte order of this machine, whose kernel writes the ring");
	}
	if (!err && call->decoder.events.is_backward) {
		call->decoder.option = "attr";
		return error_text(&call->error, NULL, "write_backward",
				  "attrs of a ring that is written forward");
	}
	return err ? err : live_ring_open(&reader->ring, perfabi->abi, area, size, &call->error);
}

/* `input` NULL: a ring that is `size` bytes at `area`. */
static int open_reader(const struct perfabi *perfabi, const struct call_input *input, void *area,
		       size_t size, const struct perfabi_options *options,
		       struct perfabi_reader **out, struct perfabi_result *result)
{
	struct perfabi_reader *reader = calloc(1, sizeof(*reader));
	struct perfabi_result unwanted;
	struct call_for what = {.sink = out_drop};
	int err;

	*out = NULL;
	result = result ? result : &unwanted;
	*result = (struct perfabi_result){0};
	if (!reader)
		return call_no_memory(result);
	reader->record.what = PERFABI_RECORD;
	what.finds = &reader->coming;
	err = input ? call_begin(&reader->call, perfabi, input, options, &what)
		    : begin_live(reader, perfabi, area, size, options, &what);
	if (err) {
		err = call_result(&reader->call, err, &reader->call.decoder.lines.sums, result);
		perfabi_close(reader);
		return err;
	}
	reader->call.decoder.lines.say_to = &reader->said;
	*out = reader;
	return 0;
}

int perfabi_open(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		 struct perfabi_reader **reader, struct perfabi_result *result)
{
	return open_reader(perfabi, &(struct call_input){.fd = fd}, NULL, 0, options, reader,
			   result);
}

int perfabi_open_memory(const struct perfabi *perfabi, const void *bytes, size_t size,
			const struct perfabi_options *options, struct perfabi_reader **reader,
			struct perfabi_result *result)
{
	return open_reader(perfabi,
			   &(struct call_input){.memory = bytes, .size = size, .in_memory = true},
			   NULL, 0, options, reader, result);
}

int perfabi_open_ring(const struct perfabi *perfabi, void *area, size_t size,
		      const struct perfabi_options *options, struct perfabi_reader **reader,
		      struct perfabi_result *result)
{
	return open_reader(perfabi, NULL, area, size, options, reader, result);
}

void perfabi_close(struct perfabi_reader *reader)
{
	if (!reader)
		return;
	if (reader->ring.tail)
		live_ring_pass(&reader->ring);
	free(reader->ring.copy);
	finds_free(&reader->coming);
	finds_free(&reader->said);
	call_end(&reader->call);
	free(reader);
}

/* One record as what is handed out: is_taken, if its type is asked for. 0, or -ENOMEM. */
static inline int take_record(struct perfabi_reader *reader, const unsigned char *bytes,
			      const struct place *place)
{
	struct decoder *d = &reader->call.decoder;
	struct perfabi_record *record = &reader->record;
	const struct lines_record *taken;

	taken = lines_take(&d->lines, bytes, place);
	record->size = taken->size;
	if (__builtin_expect(d->out.err, 0))
		return d->out.err;
	if (taken->taken == LINES_PASSED_BY)
		return 0;
	reader->is_taken = true;
	/* member by member: the others stay as open_reader() left them */
	if (reader->kind != taken->kind) {
		reader->kind = taken->kind;
		record->order = d->events.order == BIG ? PERFABI_BIG : PERFABI_LITTLE;
		record->type = taken->type;
		record->misc = taken->misc;
		record->name = taken->slot < 0 ? "UNKNOWN" : d->lines.begin[taken->slot].name;
		record->event = taken->event < 0 ? -1 : taken->event;
		record->own = taken->plan;
	}
	record->bytes = bytes;
	record->offset = place->offset;
	record->within = place->within;
	record->part = place->part;
	record->fields = d->lines.record.fields; /* which stay until the next is taken */
	record->field_count = d->lines.record.field_count;
	return 0;
}

/* The next record of the run. 0, or -ENOMEM. */
static inline int take_of_run(struct perfabi_reader *reader)
{
	struct find *run = &reader->run;
	int err = take_record(reader, run->bytes, &run->place);

	run->bytes += reader->record.size;
	run->size -= reader->record.size;
	place_advance(&run->place, reader->record.size);
	return err;
}

/* As much as is needed to have something to hand out. 1, 0 at the end, or a negative errno. */
static int go_on(struct perfabi_reader *reader)
{
	struct find *find = finds_oldest(&reader->coming);
	struct decoder *d = &reader->call.decoder;
	struct place place = place_at(0);
	const unsigned char *bytes;
	bool more = true;
	int got;

	if (reader->run.size) {
		got = take_of_run(reader);
		return got ? got : 1;
	}
	if (find) {
		reader->run = *find;
		finds_drop(&reader->coming);
		return 1;
	}
	if (reader->ring.tail) {
		got = live_ring_next(&reader->ring, &bytes, &place.offset);
		if (got < 0)
			return decoder_fail(d, got,
					    "the ring holds no record at byte %llu of its data",
					    (unsigned long long)(reader->ring.position &
								 (reader->ring.size - 1)));
		return got > 0 && take_record(reader, bytes, &place) ? -ENOMEM : got;
	}
	if (reader->is_last_step)
		return 0;
	d->lines.say_to = &reader->coming;
	got = decoder_step(d, &more);
	d->lines.say_to = &reader->said;
	reader->is_last_step = !more;
	return got ? got : d->out.err ? d->out.err : 1;
}

/* Whether there is something to hand out, which is done. */
static bool hand_out(struct perfabi_reader *reader, const struct perfabi_record **record)
{
	struct find *find = finds_oldest(&reader->coming);
	const struct diagnostic *wrong;

	if (__builtin_expect(finds_oldest(&reader->said) != NULL, 0)) {
		reader->handed = &reader->said;
	} else if (reader->is_taken) {
		reader->is_taken = false;
		*record = &reader->record;
		return true;
	} else if (!reader->run.size && find && find->wrong) {
		reader->handed = &reader->coming;
	} else {
		return false;
	}
	wrong = finds_oldest(reader->handed)->wrong; /* stays there until the next call */
	reader->wrong = (struct perfabi_record){
		.what = PERFABI_DIAGNOSTIC,
		.name = wrong->code,
		.event = -1,
		.grade = wrong->grade,
		.offset = wrong->place.offset,
		.within = wrong->place.within,
		.part = wrong->place.part,
		.message = wrong->message,
		.skipped = wrong->skipped,
	};
	*record = &reader->wrong;
	return true;
}

/* Whatever comes next; apart, so that perfabi_next() saves few registers. */
static __attribute__((noinline)) int next_of_any(struct perfabi_reader *reader,
						 const struct perfabi_record **record)
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

int perfabi_next(struct perfabi_reader *reader, const struct perfabi_record **record)
{
	/* most are of a run, and there is nothing to be said of them */
	if (reader->run.size && !reader->handed && !reader->err) {
		reader->err = take_of_run(reader);
		if (reader->is_taken && !finds_oldest(&reader->said)) {
			reader->is_taken = false;
			*record = &reader->record;
			return 1;
		}
	}
	return next_of_any(reader, record);
}

void perfabi_reader_result(const struct perfabi_reader *reader, struct perfabi_result *result)
{
	call_result(&reader->call, reader->err, &reader->call.decoder.lines.sums, result);
}

const char *perfabi_event_name(const struct perfabi_reader *reader, int32_t event)
{
	const struct events *events = &reader->call.decoder.events;

	return event >= 0 && (size_t)event < events->count ? events->list[event].name->name : NULL;
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

const char *perfabi_value_name(const struct perfabi_record *record,
			       const struct perfabi_field *field, uint64_t value)
{
	const struct plan *plan = record->own;
	const struct op *op = plan ? &plan->ops[field->own[0]] : NULL;
	const struct abi_family *names = NULL;
	const struct abi_value *known;

	if (op && (op->kind == OP_SET || op->kind == OP_INDEX))
		names = op->set;
	else if (op && op->kind == OP_BITS)
		names = op->bits.set;
	else if (op && op->kind == OP_ARRAY)
		names = op->array.markers;
	known = names ? abi_value_of(names, value) : NULL;
	return known ? known->name : NULL;
}
