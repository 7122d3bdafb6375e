/* SPDX-License-Identifier: MIT */
/*
 * Places are tried one after the other; what is tried in vain is paid for with credit.
 */
#include "stream/resync.h"

static uint16_t size_at(const struct events *events, const unsigned char *bytes)
{
	return (uint16_t)load_word(bytes + 6, 2, events->order);
}

enum verdict { NO_RECORD, RECORD, UNDECIDED };

bool header_is_likely(const struct events *events, const unsigned char *bytes)
{
	uint32_t type = (uint32_t)load_word(bytes, 4, events->order);
	uint16_t length = size_at(events, bytes);

	return type && type < TYPES && length >= 8 && (length % 8 == 0 || events->is_tool[type]);
}

/* The same, of a type that is known. */
static bool is_plausible(const struct events *events, const unsigned char *bytes)
{
	return header_is_likely(events, bytes) &&
	       events->slot_of[load_word(bytes, 4, events->order)] >= 0;
}

/*
 * Whether another comes behind one that fits nearly anything, as perf's own do, or that stands
 * where records do not if only whole ones are missing.
 */
static enum verdict has_successor(const struct events *events, const unsigned char *bytes,
				  size_t size, bool at_end)
{
	if (size < 8)
		return !at_end ? UNDECIDED : size ? NO_RECORD : RECORD;
	if (!is_plausible(events, bytes) || (at_end && size_at(events, bytes) > size))
		return NO_RECORD;
	return RECORD;
}

static enum verdict try_record(struct lines *lines, const unsigned char *bytes, size_t size,
			       bool at_end, bool is_aligned)
{
	const struct events *events = lines->events;
	uint32_t type = (uint32_t)load_word(bytes, 4, events->order);
	size_t length = size_at(events, bytes);
	enum verdict verdict = RECORD;

	if (!is_plausible(events, bytes))
		return NO_RECORD;
	if (length > size)
		return at_end ? NO_RECORD : UNDECIDED;
	if (events->is_tool[type] || !is_aligned)
		verdict = has_successor(events, bytes + length, size - length, at_end);
	if (verdict != RECORD)
		return verdict;
	if (length > lines->credit)
		return NO_RECORD;
	lines->credit -= length;
	return lines_fits(lines, bytes, length) ? RECORD : NO_RECORD;
}

size_t resync(struct lines *lines, const unsigned char *bytes, size_t from, size_t size,
	      bool at_end, struct places places, bool *found)
{
	enum { CREDIT_A_BYTE = 16 };

	size_t at;

	*found = false;
	for (at = from; at + 8 <= size; at += places.step) {
		bool is_aligned = (at + places.past) % 8 == 0;
		enum verdict verdict = try_record(lines, bytes + at, size - at, at_end, is_aligned);

		*found = verdict == RECORD;
		if (verdict != NO_RECORD)
			return at;
		if (lines->credit < LINES_CREDIT)
			lines->credit += CREDIT_A_BYTE * places.step;
	}
	return at_end ? size : at;
}
