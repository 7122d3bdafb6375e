/* SPDX-License-Identifier: MIT */
#include "stream/damage.h"

uint64_t size_is_large(enum byte_order order, const unsigned char *bytes)
{
	uint64_t high = load_word(bytes + 4, 2, order);

	if (load_word(bytes, 4, order) < TYPES_OF_SIMPLEPERF || !high)
		return 0;
	return high << 16 | load_word(bytes + 6, 2, order);
}

enum verdict { NO_RECORD, RECORD, UNDECIDED };

bool header_is_likely(const struct events *events, const unsigned char *bytes)
{
	unsigned type = record_type(events, bytes);
	uint16_t length = record_size(events, bytes);

	return type && length >= 8 && (length % 8 == 0 || events->is_tool[type]);
}

/* The same, of a type that is known. */
static bool is_plausible(const struct events *events, const unsigned char *bytes)
{
	return header_is_likely(events, bytes) && events->slot_of[record_type(events, bytes)] >= 0;
}

static enum verdict try_record(struct lines *lines, const unsigned char *bytes, size_t size,
			       bool at_end, bool is_aligned)
{
	const struct events *events = lines->events;
	unsigned type = record_type(events, bytes);
	size_t length = record_size(events, bytes), left;

	if (!is_plausible(events, bytes))
		return NO_RECORD;
	if (length > size)
		return at_end ? NO_RECORD : UNDECIDED;
	left = size - length;
	/* Another has to come behind one that fits nearly anything, as perf's own do, or that
	 * stands where records do not if only whole ones are missing. */
	if (events->is_tool[type] || !is_aligned) {
		if (left < 8 && !at_end)
			return UNDECIDED;
		if (left && (left < 8 || !is_plausible(events, bytes + length) ||
			     (at_end && record_size(events, bytes + length) > left)))
			return NO_RECORD;
	}
	if (length > lines->credit)
		return NO_RECORD;
	lines->credit -= length;
	return lines_fits(lines, bytes, length) ? RECORD : NO_RECORD;
}

void damage_begin(struct damage *damage, const struct events *events, const unsigned char *bytes,
		  size_t size, enum scan_stop stop, struct place place)
{
	*damage = (struct damage){.active = true, .place = place, .stop = stop, .left = size};
	if (size < 8)
		return;
	damage->type = (uint32_t)load_word(bytes, 4, events->order);
	damage->length = (unsigned)load_word(bytes + 6, 2, events->order);
}

static void say_damage(const struct damage *damage, struct lines *lines, bool found)
{
	struct place place = damage->place;
	uint64_t skipped = damage->skipped;

	if (damage->goes_on && !skipped)
		return;
	if (damage->stop == SCAN_MORE)
		lines_diagnostic(lines, place, "overwritten", skipped,
				 "the buffer was written more than once around: records before "
				 "this are lost");
	else if (damage->stop == SCAN_SIZE)
		lines_diagnostic(lines, place, damage->length ? "size-short" : "size-zero", skipped,
				 "record size %u is less than its header's 8", damage->length);
	else if (damage->stop == SCAN_TYPE)
		lines_diagnostic(lines, place, "no-record", skipped, "no record has the type %u",
				 damage->type);
	else if (damage->stop == SCAN_MISFIT)
		lines_diagnostic(lines, place, "no-record", skipped,
				 "what should be a record of type %u and %u bytes does not fit its "
				 "layout, and no record begins behind it",
				 damage->type, damage->length);
	else if (lines->options.cut_end && !found)
		lines_diagnostic(
			lines, place, "overwritten", skipped,
			"a record of %u bytes, and %zu are left: newer ones took its place",
			damage->length, damage->left);
	else if (damage->left < 8)
		lines_diagnostic(lines, place, "truncated", skipped,
				 "a record's header is cut off: %zu of 8 bytes", damage->left);
	else
		lines_diagnostic(lines, place, found ? "size-past-end" : "truncated", skipped,
				 "a record of %u bytes, and %zu are left", damage->length,
				 damage->left);
}

/*
 * The next record is looked for at the first place at which one stands that can be trusted: a type
 * that is known, a size that its plan accounts for to the last byte, and, behind one of perf's own
 * and at no multiple of 8 from the damage's start, another.
 *
 * Trying costs as much as decoding does. A place is tried as long as lines->credit lasts, which
 * grows with the bytes that are passed over, so that time grows with the input and no faster.
 */
size_t damage_pass(struct damage *damage, struct lines *lines, const unsigned char *bytes,
		   size_t size, bool at_end)
{
	enum { CREDIT_A_BYTE = 16 };

	/* The header that was found is none; of a buffer that went around nothing was found yet. */
	bool anywhere = damage->skipped || damage->goes_on || damage->stop == SCAN_MORE;
	/* 8: only whole words are missing; 1: any number of bytes may be */
	size_t step = damage->lacks_bytes ? 1 : 8;
	size_t past = damage->lacks_bytes ? damage->skipped % 8 : 0;
	size_t n = anywhere ? 0 : step < size ? step : size;
	enum verdict verdict = NO_RECORD;

	while (n + 8 <= size) {
		verdict = try_record(lines, bytes + n, size - n, at_end, (n + past) % 8 == 0);
		if (verdict != NO_RECORD)
			break;
		if (lines->credit < LINES_CREDIT)
			lines->credit += CREDIT_A_BYTE * step;
		n += step;
	}
	if (verdict == NO_RECORD && at_end)
		n = size;
	damage->skipped += n;
	if (verdict != RECORD && !(at_end && n == size))
		return n;
	damage->active = false;
	say_damage(damage, lines, verdict == RECORD);
	return n;
}

void damage_end(struct damage *damage, struct lines *lines)
{
	damage->active = false;
	say_damage(damage, lines, false);
}

void damage_interrupt(struct damage *damage, struct lines *lines, struct place place)
{
	if (!damage->skipped)
		return;
	say_damage(damage, lines, true);
	damage->goes_on = true;
	damage->place = place;
	damage->skipped = 0;
}

size_t scan_records(enum byte_order order, const uint8_t *special, const unsigned char *bytes,
		    size_t size, bool at_end, size_t last[2], enum scan_stop *stop)
{
	size_t at = 0;

	last[0] = last[1] = 0;
	for (;;) {
		unsigned type;
		uint16_t length;

		if (size - at < 8) {
			*stop = at == size && at_end ? SCAN_END
				: at_end             ? SCAN_PAST_END
						     : SCAN_MORE;
			return at;
		}
		type = type_index((uint32_t)load_word(bytes + at, 4, order));
		length = (uint16_t)load_word(bytes + at + 6, 2, order);
		if (type >= TYPES / 2 && size_is_large(order, bytes + at))
			*stop = SCAN_SPECIAL;
		else if (length < 8)
			*stop = SCAN_SIZE;
		else if (!type)
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
