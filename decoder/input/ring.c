/* SPDX-License-Identifier: MIT */
/*
 * struct perf_event_mmap_page by its layout; data_head and data_tail as perf_event_open(2), "MMAP
 * layout", has them. A buffer that was mapped read-only is never emptied, so that data_head runs
 * past data_size and the oldest records are overwritten.
 */
#include "input/perfdata.h"

#include <errno.h>

static uint64_t field(const struct plan *plan, const unsigned char *page, enum byte_order order,
		      const char *name)
{
	uint64_t value = 0;

	plan_number(plan, name, page, RING_PAGE_MIN, order, &value);
	return value;
}

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static int page_plan(struct plan *plan, const struct abi *abi)
{
	struct plan_for with = {.abi = abi};

	return plan_make(plan, &with, abi_layout(abi, "mmap_page"));
}

int ring_find_data(const struct plan *plan, const unsigned char *page, enum byte_order order,
		   uint64_t size, const char *where, struct segment *data, struct error *e)
{
	char got[96];

	data->offset = field(plan, page, order, "data_offset");
	data->size = field(plan, page, order, "data_size");
	if (!data->size) { /* before 4.1: all pages behind the first */
		data->offset = RING_PAGE_MIN;
		while (data->offset < size && !is_power_of_two(size - data->offset))
			data->offset *= 2;
		data->size = size > data->offset ? size - data->offset : 0;
	}
	if (is_power_of_two(data->size) && data->offset >= RING_PAGE_MIN && data->offset <= size &&
	    data->size <= size - data->offset)
		return 0;
	snprintf(got, sizeof(got), "data_offset %llu, data_size %llu in %s%llu bytes",
		 (unsigned long long)data->offset, (unsigned long long)data->size, where,
		 (unsigned long long)size);
	return error_text(e, NULL, got, "2^n data pages behind the metadata page");
}

int ring_detect(const struct abi *abi, const unsigned char *bytes, size_t n, uint64_t size,
		enum byte_order *order)
{
	static const enum byte_order orders[] = {LITTLE, BIG};
	struct plan plan;
	bool found = false;

	if (n < RING_PAGE_MIN)
		return 0;
	if (page_plan(&plan, abi))
		return -ENOMEM;
	for (size_t i = 0; i < 2 && !found; i++) {
		uint64_t offset = field(&plan, bytes, orders[i], "data_offset");
		uint64_t data = field(&plan, bytes, orders[i], "data_size");

		found = offset >= RING_PAGE_MIN && is_power_of_two(offset) &&
			is_power_of_two(data) && data <= size && offset <= size - data &&
			!bytes[0] && !bytes[1] && !bytes[2];
		if (found)
			*order = orders[i];
	}
	plan_free(&plan);
	return found;
}

/* The bytes from position `from` of the free-running counter on, in file order of reading. */
static void cut_segments(struct ring *ring, const struct segment *data, uint64_t from,
			 uint64_t length)
{
	uint64_t at = from & (data->size - 1), first = data->size - at;

	ring->segments[0] = (struct segment){data->offset + at, length < first ? length : first};
	ring->segments[1] = (struct segment){data->offset, length < first ? 0 : length - first};
}

/*
 * How far `to` is ahead of `from`. A kernel of 32 bits has as many in data_head, which then goes
 * from 2^32 - 1 to 0 (local_t head of struct perf_buffer).
 */
static uint64_t ahead(uint64_t to, uint64_t from)
{
	return to < from && from <= UINT32_MAX ? (uint32_t)(to - from) : to - from;
}

int ring_open(struct ring *ring, const struct abi *abi, struct input *in, enum byte_order order,
	      bool backward, struct error *e)
{
	unsigned char *page = ring->bytes;
	struct segment data;
	uint64_t head, tail;
	long n = input_read_at(in, 0, page, RING_PAGE_MIN);
	int err;

	if (n < 0)
		return (int)n;
	if (n < RING_PAGE_MIN)
		return error_text(e, NULL, "less than one page",
				  "an image of the mmap area: a metadata page and 2^n data pages");
	err = page_plan(&ring->plan, abi);
	if (err)
		return err;
	ring->page = plan_fixed_size(&ring->plan);
	err = ring_find_data(&ring->plan, page, order, in->size, "an image of ", &data, e);
	if (err)
		return err;
	head = field(&ring->plan, page, order, "data_head");
	tail = field(&ring->plan, page, order, "data_tail");
	ring->unread = in->size - data.offset - data.size;
	if (backward) {
		/* No buffer is written so full that 64 bits come to so little. */
		uint64_t written = head <= UINT32_MAX ? (uint32_t)(0 - head) : 0 - head;

		cut_segments(ring, &data, head, written < data.size ? written : data.size);
		ring->lost_end = written > data.size;
	} else if (ahead(head, tail) <= data.size) {
		cut_segments(ring, &data, tail, ahead(head, tail));
	} else {
		ring->lost_begin = true;
		cut_segments(ring, &data, head - data.size, data.size);
	}
	return 0;
}
