/* SPDX-License-Identifier: MIT */
/*
 * The chain of records by their sizes, and how to find it again.
 */
#include "scan.h"

static uint16_t size_at(const struct events *events, const unsigned char *bytes)
{
	return (uint16_t)load_word(bytes + 6, 2, events->order);
}

size_t scan_records(const struct events *events, const bool *special, const unsigned char *bytes,
		    size_t size, bool at_end, enum scan_stop *stop)
{
	enum byte_order order = events->order;
	size_t at = 0;

	for (;;) {
		uint32_t type;
		uint16_t length;

		if (size - at < 8) {
			*stop = at == size && at_end ? SCAN_END
				: at_end             ? SCAN_PAST_END
						     : SCAN_MORE;
			return at;
		}
		type = (uint32_t)load_word(bytes + at, 4, order);
		length = (uint16_t)load_word(bytes + at + 6, 2, order);
		if (length < 8)
			*stop = SCAN_SIZE;
		else if (length > size - at)
			*stop = at_end ? SCAN_PAST_END : SCAN_MORE;
		else if (special && type < TYPES && special[type])
			*stop = SCAN_SPECIAL;
		else {
			at += length;
			continue;
		}
		return at;
	}
}

/* A header as one could be. */
static bool is_plausible(const struct events *events, const unsigned char *bytes, size_t size,
			 bool at_end)
{
	uint32_t type;
	uint16_t length;

	if (size < 8)
		return !at_end || !size;
	type = (uint32_t)load_word(bytes, 4, events->order);
	length = size_at(events, bytes);
	return type < TYPES && events->slot_of[type] >= 0 && length >= 8 &&
	       (events->is_tool[type] || length % 8 == 0) && (length <= size || !at_end);
}

size_t scan_resync(struct lines *lines, const unsigned char *bytes, size_t from, size_t size,
		   bool at_end)
{
	const struct events *events = lines->events;

	for (size_t at = from; at + 8 <= size; at += 8) {
		uint32_t type;
		size_t length;

		if (!is_plausible(events, bytes + at, size - at, at_end))
			continue;
		type = (uint32_t)load_word(bytes + at, 4, events->order);
		length = size_at(events, bytes + at);
		if (length > size - at)
			continue;
		if (events->is_tool[type] &&
		    !is_plausible(events, bytes + at + length, size - at - length, at_end))
			continue;
		if (lines_fits(lines, bytes + at, length))
			return at;
	}
	return size;
}
