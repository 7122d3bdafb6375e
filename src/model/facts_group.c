/* SPDX-License-Identifier: MIT */
/*
 * The event that group_fd is: a leader to join, or whose buffer to write to.
 */
#include <stddef.h>

#include "abi/attr.h"
#include "model/fact.h"

/* Of an event that somebody else has opened nothing is known but that it is one. */
static bool is_known(const struct situation *s)
{
	return !s->event || !s->event->is_unknown;
}

static bool group_is_event(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->event != NULL;
	return true;
}

static bool group_member(const struct fact *fact, struct situation *s, uint64_t *value)
{
	*value = s->event ? fact_member(fact, s->event) : 0;
	return is_known(s);
}

/* Software leaders have none; others are the PMU's affair. */
static bool group_is_aux(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = 0;
	return is_known(s) && (!s->event || !s->event->is_hardware);
}

/* __perf_event_read_size: of a group with one member more. */
static uint64_t size_of_read(const struct abi_family *format, uint64_t bits, unsigned siblings)
{
	uint64_t entry = 8, size = 0, count = 1;

	for (size_t i = 0; i < format->count; i++) {
		const struct abi_value *bit = &format->values[i];

		if (!(bits & bit->value))
			continue;
		if (!__builtin_strcmp(bit->name, "group")) {
			count += siblings;
			size += 8;
		} else if (!__builtin_strncmp(bit->name, "total_time", 10)) {
			size += 8;
		} else {
			entry += 8;
		}
	}
	return size + count * entry;
}

static bool group_read_size(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct abi *abi = s->machine->env->abi;
	unsigned siblings = s->event ? s->event->siblings + 1 : 1;
	const struct abi_family *format = abi_family(abi, "read_format");
	uint64_t own = attr_get(s->machine->read_format, s->attr, host_order());
	uint64_t leaders = s->event ? size_of_read(format, s->event->read_format, siblings) : 0;

	(void)fact;
	*value = size_of_read(format, own, siblings);
	if (leaders > *value)
		*value = leaders;
	return is_known(s);
}

static const char others[] = "group_fd is an event that was opened before, and how is not known";

#define MEMBER(member_, kind_, text)                                                               \
	.name = "group." #member_, .about = text, .unknown = others, .get = group_member,          \
	.index = offsetof(struct world_event, member_), .kind = kind_

const struct fact group_facts[] = {
	{.name = "group.is_event", .about = "1: group_fd is an event", .get = group_is_event},
	{MEMBER(has_exited, A_BOOL, "1: its task is gone")},
	{MEMBER(inherit, A_BOOL, "its inherit")},
	{MEMBER(is_sibling, A_BOOL, "1: it is in a group and does not lead it")},
	{MEMBER(clock, AN_INT32, "its clock, as call.clock"), .is_signed = true},
	{MEMBER(cpu, AN_INT32, "its cpu"), .is_signed = true},
	{MEMBER(target, AN_INT32, "its task, as target.id"), .is_signed = true},
	{MEMBER(cgroup, AN_INT64, "its cgroup, as cgroup.id"), .is_signed = true},
	{MEMBER(write_backward, A_BOOL, "its write_backward")},
	{MEMBER(has_buffer, A_BOOL, "1: it has been mapped")},
	{.name = "group.is_aux",
	 .about = "1: it has an AUX buffer",
	 .unknown = "what the leader's PMU can do only the kernel knows",
	 .get = group_is_aux},
	{.name = "group.read_size",
	 .about = "bytes of the largest read of the group with this event",
	 .unknown = others,
	 .get = group_read_size},
	{.name = NULL}};
