/* SPDX-License-Identifier: MIT */
/*
 * The kernel moves data_head behind what it wrote, the reader data_tail behind what it read; each
 * is read with acquire and written with release by the other. A ring is smaller than 2^32 bytes, so
 * that the lower 32 bits of a counter tell how far it went; on a machine of 32 bits no more of it
 * can be read at once, nor is there more.
 */
#include "live_ring.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

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

void live_ring_pass(struct live_ring *ring)
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

int live_ring_open(struct live_ring *ring, const struct abi *abi, void *area, size_t size,
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

int live_ring_next(struct live_ring *ring, const unsigned char **bytes, uint64_t *offset)
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

void live_ring_free(struct live_ring *ring)
{
	if (ring->tail)
		live_ring_pass(ring);
	free(ring->copy);
}
