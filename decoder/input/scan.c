/* SPDX-License-Identifier: MIT */
/*
 * The chain of records by their sizes.
 */
#include "input/scan.h"

size_t scan_records(enum byte_order order, const bool *special, const unsigned char *bytes,
		    size_t size, bool at_end, size_t last[2], enum scan_stop *stop)
{
	size_t at = 0;

	last[0] = last[1] = 0;
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
		else if (!type || type >= TYPES)
			*stop = SCAN_TYPE;
		else if (length > size - at)
			*stop = at_end ? SCAN_PAST_END : SCAN_MORE;
		else if (special[type])
			*stop = SCAN_SPECIAL;
		else {
			last[1] = last[0];
			last[0] = at;
			at += length;
			continue;
		}
		return at;
	}
}
