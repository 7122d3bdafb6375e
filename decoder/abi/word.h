/* SPDX-License-Identifier: MIT */
/*
 * Numbers in bytes of either order.
 */
#ifndef PERFABI_WORD_H
#define PERFABI_WORD_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum byte_order { LITTLE, BIG };

/* The order of the machine this runs on. */
static inline enum byte_order host_order(void)
{
	return BYTE_ORDER == BIG_ENDIAN ? BIG : LITTLE;
}

/* An unsigned number of 1, 2, 4 or 8 bytes; `swap`: not in this machine's order. */
static inline uint64_t load_swapped(const unsigned char *p, unsigned width, bool swap)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (width) {
	case 1:
		return *p;
	case 2:
		memcpy(&v16, p, 2);
		return swap ? __builtin_bswap16(v16) : v16;
	case 4:
		memcpy(&v32, p, 4);
		return swap ? __builtin_bswap32(v32) : v32;
	default:
		memcpy(&v64, p, 8);
		return swap ? __builtin_bswap64(v64) : v64;
	}
}

static inline uint64_t load_word(const unsigned char *bytes, unsigned width, enum byte_order order)
{
	return load_swapped(bytes, width, order != host_order());
}

#endif
