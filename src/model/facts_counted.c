/* SPDX-License-Identifier: MIT */
/*
 * What came of an event that perfabi has opened and counted for a moment.
 */
#include <stddef.h>

#include "model/fact.h"

static bool counted_number(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct counted *counted = s->world->counted;

	if (counted)
		*value = fact_member(fact, counted);
	return counted != NULL;
}

/* Of an event without a buffer it is not known. */
static bool counted_record(const struct fact *fact, struct situation *s, uint64_t *value)
{
	return s->world->counted && s->world->counted->has_samples &&
	       counted_number(fact, s, value);
}

static bool counted_is_shared(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct counted *counted = s->world->counted;

	(void)fact;
	*value = counted && counted->running && counted->running < counted->enabled;
	return counted != NULL;
}

static const char uncounted[] = "the event was not counted";

#define COUNTED(member, text)                                                                      \
	{                                                                                          \
		.name = "counted." #member, .about = text, .unknown = uncounted,                   \
		.get = counted_number, .index = offsetof(struct counted, member), .kind = A_UINT64 \
	}
#define RECORDED(member, text)                                                                     \
	{                                                                                          \
		.name = "counted." #member, .about = text, .unknown = uncounted,                   \
		.get = counted_record, .index = offsetof(struct counted, member), .kind = A_UINT64 \
	}

const struct fact counted_facts[] = {
	COUNTED(value, "what the event has counted meanwhile"),
	COUNTED(running, "its time_running, in nanoseconds"),
	COUNTED(switches, "how often the program was switched out meanwhile"),
	RECORDED(samples, "how many samples there are"),
	RECORDED(throttled, "how often it was throttled"),
	{.name = "counted.is_error",
	 .about = "1: read(2) gave nothing: the event is in an error state",
	 .unknown = uncounted,
	 .get = counted_number,
	 .index = offsetof(struct counted, is_error),
	 .kind = A_BOOL},
	{.name = "counted.is_shared",
	 .about = "1: it had a counter only part of the time",
	 .unknown = uncounted,
	 .get = counted_is_shared},
	{.name = NULL}};
