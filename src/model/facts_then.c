/* SPDX-License-Identifier: MIT */
/*
 * The call that is made on an event once it is open: mmap(2), ioctl(2), read(2).
 */
#include <stddef.h>

#include "abi/attr.h"
#include "model/fact.h"

static bool then_number(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct followed *then = s->world->then;

	if (then)
		*value = fact_member(fact, then);
	return then != NULL;
}

/* Of a mapping from the beginning, the pages behind the first. */
static uint64_t data_pages(const struct situation *s, uint64_t length)
{
	uint64_t page = s->machine->env->page_size;

	return page && length >= page ? length / page - 1 : 0;
}

static bool then_pages(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->world->then ? data_pages(s, s->world->then->length) : 0;
	return s->world->then && s->machine->env->page_size;
}

static bool then_buffer_pages(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->world->then ? data_pages(s, s->world->then->buffer) : 0;
	return s->world->then && s->machine->env->page_size;
}

static bool then_is_power(const struct fact *fact, struct situation *s, uint64_t *value)
{
	uint64_t pages;
	bool known = then_pages(fact, s, &pages);

	*value = !(pages & (pages - 1));
	return known;
}

/* perf_mmap_calc_limits(): kilobytes that a user may lock without its own limit. */
static bool then_free_kilobytes(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	(void)fact;
	*value = env->mlock_kb > 0 ? (uint64_t)env->mlock_kb * env->cpus_online : 0;
	return env->mlock_kb != SYSCTL_ABSENT && env->cpus_online;
}

static bool then_locked_kilobytes(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->machine->env->memlock_soft / 1024;
	return s->machine->env->memlock_soft != 0;
}

static bool then_wanted_kilobytes(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->world->then ? s->world->then->length / 1024 : 0;
	return s->world->then != NULL;
}

/* The largest buffer of 2^n pages that every cpu can have one of. */
static bool then_pages_for_each(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;
	uint64_t unlocked, locked, pages = 0;

	*value = 0;
	if (!then_free_kilobytes(fact, s, &unlocked) || !env->page_size)
		return false;
	if (!then_locked_kilobytes(fact, s, &locked))
		locked = 0;
	pages = (unlocked + locked) / (env->page_size / 1024) / env->cpus_online;
	for (*value = pages > 1; *value && *value * 2 + 1 <= pages;)
		*value *= 2;
	return true;
}

/* How much the mapping alone is more than a user may lock, in kilobytes. */
static bool get_excess(struct situation *s, int64_t *excess)
{
	uint64_t unlocked, locked, wanted;

	if (!then_free_kilobytes(NULL, s, &unlocked) || !then_locked_kilobytes(NULL, s, &locked) ||
	    !then_wanted_kilobytes(NULL, s, &wanted))
		return false;
	*excess = (int64_t)(wanted - unlocked - locked);
	return true;
}

/* What others of the same user have locked counts, too, and is not known. */
static bool then_is_over_limit(const struct fact *fact, struct situation *s, uint64_t *value)
{
	int64_t excess;

	(void)fact;
	*value = get_excess(s, &excess) && excess > 0;
	return *value;
}

static bool then_fits_alone(const struct fact *fact, struct situation *s, uint64_t *value)
{
	int64_t excess;

	(void)fact;
	*value = get_excess(s, &excess) && excess <= 0;
	return s->world->then != NULL;
}

/* One event alone: 8 bytes, and 8 for each bit of read_format but group. */
static bool then_read_size(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct abi_family *names = abi_family(s->machine->env->abi, "read_format");
	uint64_t format = attr_get(s->machine->read_format, s->attr, host_order());

	(void)fact;
	*value = 8;
	for (size_t i = 0; i < names->count; i++)
		*value += format & names->values[i].value ? 8 : 0;
	return true;
}

static const char nothing[] = "nothing is asked about behind the open";
static const char unrecorded[] = "the limit is not recorded of this machine";

#define THEN(name_, member, text)                                                                  \
	.name = "then." name_, .about = text, .unknown = nothing, .get = then_number,              \
	.index = offsetof(struct followed, member), .kind = A_UINT64

const struct fact then_facts[] = {
	{THEN("length", length, "bytes that mmap(2) is to map, or munmap(2) to unmap")},
	{THEN("offset", offset, "its offset in bytes")},
	{THEN("buffer", buffer, "bytes that are mapped by then; 0: nothing")},
	{THEN("request", request, "the request of ioctl(2)"), .family = "ioctl"},
	{THEN("argument", argument, "its argument, or the number that it points to")},
	{THEN("size", size, "bytes that read(2) is to read")},
	{.name = "then.is_unmap",
	 .about = "1: it is munmap(2)",
	 .unknown = nothing,
	 .get = then_number,
	 .index = offsetof(struct followed, is_unmap),
	 .kind = A_BOOL},
	{.name = "then.is_private",
	 .about = "1: mmap(2) has MAP_PRIVATE",
	 .unknown = nothing,
	 .get = then_number,
	 .index = offsetof(struct followed, is_private),
	 .kind = A_BOOL},
	{.name = "then.pages",
	 .about = "the pages of data that mmap(2) is to map, without the first",
	 .unknown = nothing,
	 .get = then_pages},
	{.name = "then.buffer_pages",
	 .about = "those that are mapped by then",
	 .unknown = nothing,
	 .get = then_buffer_pages},
	{.name = "then.is_power",
	 .about = "1: then.pages is a power of two, or 0",
	 .unknown = nothing,
	 .get = then_is_power},
	{.name = "then.wanted_kilobytes",
	 .about = "then.length in kilobytes",
	 .unknown = nothing,
	 .get = then_wanted_kilobytes},
	{.name = "then.free_kilobytes",
	 .about = "what a user may lock by perf_event_mlock_kb, on all cpus",
	 .unknown = unrecorded,
	 .get = then_free_kilobytes},
	{.name = "then.locked_kilobytes",
	 .about = "what a process may lock beyond that (RLIMIT_MEMLOCK)",
	 .unknown = unrecorded,
	 .get = then_locked_kilobytes},
	{.name = "then.pages_for_each",
	 .about = "the pages behind the first that a buffer on each cpu may have",
	 .unknown = unrecorded,
	 .get = then_pages_for_each},
	{.name = "then.is_over_limit",
	 .about = "1: the mapping alone is more than both",
	 .unknown = "what this user has locked elsewhere is not known",
	 .get = then_is_over_limit},
	{.name = "then.fits_alone",
	 .about = "1: the mapping alone is known to be no more than both",
	 .unknown = nothing,
	 .get = then_fits_alone},
	{.name = "then.read_size",
	 .about = "the bytes that read(2) gives of one event alone",
	 .get = then_read_size},
	{.name = NULL}};
