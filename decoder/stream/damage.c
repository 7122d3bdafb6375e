/* SPDX-License-Identifier: MIT */
/*
 * Damage, from the header that cannot be to the record that can.
 */
#include "stream/damage.h"

#include "stream/resync.h"

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

size_t damage_pass(struct damage *damage, struct lines *lines, const unsigned char *bytes,
		   size_t size, bool at_end)
{
	/* The header that was found is none; of a buffer that went around nothing was found yet. */
	bool anywhere = damage->skipped || damage->goes_on || damage->stop == SCAN_MORE, found;
	struct places places = {8, 0};
	size_t from, n;

	if (damage->lacks_bytes)
		places = (struct places){1, (unsigned)(damage->skipped % 8)};
	from = anywhere ? 0 : places.step;
	n = resync(lines, bytes, from < size ? from : size, size, at_end, places, &found);
	damage->skipped += n;
	if (!found && !(at_end && n == size))
		return n;
	damage->active = false;
	say_damage(damage, lines, found);
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
