/* SPDX-License-Identifier: MIT */
/*
 * What is to be watched by a breakpoint: bp_type, bp_addr and bp_len.
 */
#include "abi/attr.h"
#include "model/fact.h"

static uint64_t read_field(const struct situation *s, const struct abi_field *field)
{
	return attr_get(field, s->attr, host_order());
}

static bool is_power_of_2(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* The kernel's unsigned long. */
static uint64_t as_long(const struct situation *s, uint64_t n)
{
	return s->machine->env->kernel_bits == 32 ? (uint32_t)n : n;
}

/* On data there is a bit for reads or writes in bp_type; else it is on code (find_slot_idx). */
static bool is_on_data(const struct situation *s)
{
	return read_field(s, s->machine->bp_type) & 3;
}

static const struct lesson *slots(const struct situation *s)
{
	return s->machine->breakpoints[is_on_data(s)];
}

static bool breakpoint_slots(struct situation *s, uint64_t *value)
{
	const struct lesson *lesson = slots(s);

	*value = lesson && lesson->is_known ? lesson->value : 0;
	return lesson && lesson->is_known;
}

/* As far as the caller has taken them. */
static bool breakpoint_free(struct situation *s, uint64_t *value)
{
	bool known = breakpoint_slots(s, value);

	*value -= *value < s->world->breakpoints ? *value : s->world->breakpoints;
	return known;
}

static bool breakpoint_wraps(struct situation *s, uint64_t *value)
{
	uint64_t first = as_long(s, read_field(s, s->machine->config1));

	*value = as_long(s, first + read_field(s, s->machine->config2) - 1) < first;
	return true;
}

/* A breakpoint on code is one byte for the kernel; bytes beyond 8 are a mask of its own. */
static bool breakpoint_is_kernel(struct situation *s, uint64_t *value)
{
	uint64_t first = as_long(s, read_field(s, s->machine->config1)),
		 n = read_field(s, s->machine->config2);
	const struct lesson *end = s->machine->user_end;

	if (!end || !end->is_known)
		return false;
	n = !is_on_data(s) || !n || n > 8 ? 1 : n;
	*value = first >= end->value || first + n - 1 >= end->value;
	return true;
}

static bool breakpoint_end(struct situation *s, uint64_t *value)
{
	*value = as_long(s, read_field(s, s->machine->config1) +
				    read_field(s, s->machine->config2) - 1);
	return true;
}

static bool breakpoint_never_known(struct situation *s, uint64_t *value)
{
	(void)s;
	(void)value;
	return false;
}

static bool breakpoint_len_is_plain(struct situation *s, uint64_t *value)
{
	uint64_t n = read_field(s, s->machine->config2);

	*value = is_power_of_2(n) && n <= s->machine->env->kernel_bits / 8;
	return true;
}

static bool breakpoint_len_is_power(struct situation *s, uint64_t *value)
{
	*value = is_power_of_2(read_field(s, s->machine->config2));
	return true;
}

static bool breakpoint_is_aligned(struct situation *s, uint64_t *value)
{
	uint64_t n = read_field(s, s->machine->config2);

	*value = !n || !(read_field(s, s->machine->config1) & (n - 1));
	return true;
}

/* How far it reaches into the 8 aligned bytes in which it begins. */
static bool breakpoint_word_end(struct situation *s, uint64_t *value)
{
	*value = (read_field(s, s->machine->config1) & 7) + read_field(s, s->machine->config2);
	return true;
}

static const char uncounted[] = "how many breakpoints the processor has is not known";

const struct fact breakpoint_facts[] = {
	{.name = "breakpoint.slots",
	 .about = "how many of its kind the processor has",
	 .unknown = uncounted,
	 .get = breakpoint_slots},
	{.name = "breakpoint.free",
	 .about = "how many of them the caller has not taken",
	 .unknown = uncounted,
	 .get = breakpoint_free},
	{.name = "breakpoint.wraps",
	 .about = "1: it reaches beyond the last address",
	 .get = breakpoint_wraps},
	{.name = "breakpoint.is_kernel",
	 .about = "1: it is on the kernel's addresses",
	 .unknown = "where the kernel's addresses begin is not known",
	 .get = breakpoint_is_kernel},
	{.name = "breakpoint.end",
	 .about = "its last byte",
	 .get = breakpoint_end,
	 .is_mask = true},
	{.name = "breakpoint.is_in_entry",
	 .about = "1: it is in the code or data by which the kernel is entered",
	 .unknown = "where the kernel is entered only the kernel knows",
	 .get = breakpoint_never_known},
	{.name = "breakpoint.len_is_plain",
	 .about = "1: bp_len is 1, 2, 4 or 8, and not more than a long",
	 .get = breakpoint_len_is_plain},
	{.name = "breakpoint.len_is_power",
	 .about = "1: bp_len is a power of two",
	 .get = breakpoint_len_is_power},
	{.name = "breakpoint.is_aligned",
	 .about = "1: bp_addr is a multiple of bp_len, a power of two",
	 .get = breakpoint_is_aligned},
	{.name = "breakpoint.word_end",
	 .about = "the byte behind it, from the 8 aligned bytes on in which it begins",
	 .get = breakpoint_word_end},
	{.name = NULL}};
