/* SPDX-License-Identifier: MIT */
/*
 * What came of an event that perfabi has opened and counted for a moment, and the call that is made
 * on one once it is open: mmap(2), ioctl(2), read(2).
 */
#include "abi/attr.h"
#include "model/fact.h"

static const void *then_of(struct evaluation *s)
{
	return s->objects->then;
}

/* Of a mapping from the beginning, the pages behind the first. */
static uint64_t data_pages(const struct evaluation *s, uint64_t length)
{
	uint64_t page = s->machine->env->page_size;

	return page && length >= page ? length / page - 1 : 0;
}

static bool then_pages(struct evaluation *s, uint64_t *value)
{
	*value = s->objects->then ? data_pages(s, s->objects->then->length) : 0;
	return s->objects->then && s->machine->env->page_size;
}

static bool then_buffer_pages(struct evaluation *s, uint64_t *value)
{
	*value = s->objects->then ? data_pages(s, s->objects->then->buffer) : 0;
	return s->objects->then && s->machine->env->page_size;
}

static bool then_is_power(struct evaluation *s, uint64_t *value)
{
	uint64_t pages;
	bool known = then_pages(s, &pages);

	*value = !(pages & (pages - 1));
	return known;
}

/* perf_mmap_calc_limits(): kilobytes that a user may lock without its own limit. */
static bool then_free_kilobytes(struct evaluation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	*value = env->sysctls[SYSCTL_MLOCK_KB] > 0
			 ? (uint64_t)env->sysctls[SYSCTL_MLOCK_KB] * env->cpus_online
			 : 0;
	return env->sysctls[SYSCTL_MLOCK_KB] != SYSCTL_ABSENT && env->cpus_online;
}

static bool then_locked_kilobytes(struct evaluation *s, uint64_t *value)
{
	*value = s->machine->env->memlock_soft / 1024;
	return s->machine->env->memlock_soft != 0;
}

static bool then_wanted_kilobytes(struct evaluation *s, uint64_t *value)
{
	*value = s->objects->then ? s->objects->then->length / 1024 : 0;
	return s->objects->then != NULL;
}

/* The largest buffer of 2^n pages that every cpu can have one of. */
static bool then_pages_for_each(struct evaluation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;
	uint64_t unlocked, locked, pages = 0;

	*value = 0;
	if (!then_free_kilobytes(s, &unlocked) || !env->page_size)
		return false;
	if (!then_locked_kilobytes(s, &locked))
		locked = 0;
	pages = (unlocked + locked) / (env->page_size / 1024) / env->cpus_online;
	for (*value = pages > 1; *value && *value * 2 + 1 <= pages;)
		*value *= 2;
	return true;
}

/* How much the mapping alone is more than a user may lock, in kilobytes. */
static bool get_excess(struct evaluation *s, int64_t *excess)
{
	uint64_t unlocked, locked, wanted;

	if (!then_free_kilobytes(s, &unlocked) || !then_locked_kilobytes(s, &locked) ||
	    !then_wanted_kilobytes(s, &wanted))
		return false;
	*excess = (int64_t)(wanted - unlocked - locked);
	return true;
}

/* What others of the same user have locked counts, too, and is not known. */
static bool then_is_over_limit(struct evaluation *s, uint64_t *value)
{
	int64_t excess;

	*value = get_excess(s, &excess) && excess > 0;
	return *value;
}

static bool then_fits_alone(struct evaluation *s, uint64_t *value)
{
	int64_t excess;

	*value = get_excess(s, &excess) && excess <= 0;
	return s->objects->then != NULL;
}

static bool then_read_size(struct evaluation *s, uint64_t *value)
{
	*value = size_of_read(s->machine->env->abi,
			      attr_get(s->machine->read_format, s->attr, host_order()), 0);
	return true;
}

static const char nothing[] = "nothing is asked about behind the open";
static const char unrecorded[] = "the limit is not recorded of this machine";

#define THEN(name_, member_, text)                                                                 \
	.name = "then." name_, .about = text, .unknown = nothing, .of = then_of,                   \
	.datum = DATUM(struct followed, member_, ALWAYS_KNOWN)

static const void *counted_of(struct evaluation *s)
{
	return s->objects->counted;
}

/* Of an event without a buffer it is not known. */
static const void *recorded_of(struct evaluation *s)
{
	return s->objects->counted && s->objects->counted->has_samples ? s->objects->counted : NULL;
}

static bool counted_is_shared(struct evaluation *s, uint64_t *value)
{
	const struct counted *counted = s->objects->counted;

	*value = counted && counted->running && counted->running < counted->enabled;
	return counted != NULL;
}

static const char uncounted[] = "the event was not counted";

#define COUNTED(name_, of_, text)                                                                  \
	.name = "counted." #name_, .about = text, .unknown = uncounted, .of = of_,                 \
	.datum = DATUM(struct counted, name_, ALWAYS_KNOWN)

const struct fact then_facts[] = {
	{COUNTED(value, counted_of, "what the event has counted meanwhile")},
	{COUNTED(running, counted_of, "its time_running, in nanoseconds")},
	{COUNTED(switches, counted_of, "how often the program was switched out meanwhile")},
	{COUNTED(samples, recorded_of, "how many samples there are")},
	{COUNTED(throttled, recorded_of, "how often it was throttled")},
	{COUNTED(is_error, counted_of, "1: read(2) gave nothing: the event is in an error state")},
	{"counted.is_shared", "1: it had a counter only part of the time", uncounted,
	 .get = counted_is_shared},
	{THEN("length", length, "bytes that mmap(2) is to map, or munmap(2) to unmap")},
	{THEN("offset", offset, "its offset in bytes")},
	{THEN("buffer", buffer, "bytes that are mapped by then; 0: nothing")},
	{THEN("request", request, "the request of ioctl(2)"), .family = "ioctl"},
	{THEN("argument", argument, "its argument, or the number that it points to")},
	{THEN("size", size, "bytes that read(2) is to read")},
	{THEN("is_unmap", is_unmap, "1: it is munmap(2)")},
	{THEN("is_private", is_private, "1: mmap(2) has MAP_PRIVATE")},
	{"then.pages", "the pages of data that mmap(2) is to map, without the first", nothing,
	 .get = then_pages},
	{"then.buffer_pages", "the data pages that are already mapped", nothing,
	 .get = then_buffer_pages},
	{"then.is_power", "1: then.pages is a power of two, or 0", nothing, .get = then_is_power},
	{"then.wanted_kilobytes", "then.length in kilobytes", nothing,
	 .get = then_wanted_kilobytes},
	{"then.free_kilobytes", "what a user may lock by perf_event_mlock_kb, on all cpus",
	 unrecorded, .get = then_free_kilobytes},
	{"then.locked_kilobytes", "what a process may lock beyond that (RLIMIT_MEMLOCK)",
	 unrecorded, .get = then_locked_kilobytes},
	{"then.pages_for_each", "the data pages that a buffer on each cpu may have", unrecorded,
	 .get = then_pages_for_each},
	{"then.is_over_limit", "1: the mapping alone is more than both",
	 "what this user has locked elsewhere is not known", .get = then_is_over_limit},
	{"then.fits_alone", "1: the mapping alone is known to be no more than both", nothing,
	 .get = then_fits_alone},
	{"then.read_size", "the bytes that read(2) returns for one event alone", NULL,
	 .get = then_read_size},
	{.name = NULL}};
