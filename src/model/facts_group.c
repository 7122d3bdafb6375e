/* SPDX-License-Identifier: MIT */
/*
 * The event that group_fd is: a leader to join, or whose buffer to write to.
 */
#include "abi/attr.h"
#include "model/fact.h"

/* Of an event that somebody else has opened nothing is known but that it is one. */
static bool is_known(const struct situation *s)
{
	return !s->event || !s->event->is_unknown;
}

static bool group_is_event(struct situation *s, uint64_t *value)
{
	*value = s->event != NULL;
	return true;
}

static const void *event_named(struct situation *s)
{
	static const struct world_event none;

	return !is_known(s) ? NULL : s->event ? s->event : &none;
}

/* Software leaders have none; others are the PMU's affair. */
static bool group_is_aux(struct situation *s, uint64_t *value)
{
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

static bool group_read_size(struct situation *s, uint64_t *value)
{
	const struct abi *abi = s->machine->env->abi;
	unsigned siblings = s->event ? s->event->siblings + 1 : 1;
	const struct abi_family *format = abi_family(abi, "read_format");
	uint64_t own = attr_get(s->machine->read_format, s->attr, host_order());
	uint64_t leaders = s->event ? size_of_read(format, s->event->read_format, siblings) : 0;

	*value = size_of_read(format, own, siblings);
	if (leaders > *value)
		*value = leaders;
	return is_known(s);
}

static const char others[] = "group_fd is an event that was opened before, and how is not known";

#define OF(name_, text)                                                                            \
	.name = "group." #name_, .about = text, .unknown = others, .of = event_named,                \
	.datum = DATUM(struct world_event, name_, ALWAYS_KNOWN)

const struct fact group_facts[] = {
	{.name = "group.is_event", .about = "1: group_fd is an event", .get = group_is_event},
	{OF(has_exited, "1: its task is gone")},
	{OF(inherit, "its inherit")},
	{OF(is_sibling, "1: it is in a group and does not lead it")},
	{OF(clock, "its clock, as call.clock"), .is_signed = true},
	{OF(cpu, "its cpu"), .is_signed = true},
	{OF(target, "its task, as target.id"), .is_signed = true},
	{OF(cgroup, "its cgroup, as cgroup.id"), .is_signed = true},
	{OF(write_backward, "its write_backward")},
	{OF(has_buffer, "1: it has been mapped")},
	{.name = "group.is_aux",
	 .about = "1: it has an AUX buffer",
	 .unknown = "what the leader's PMU can do only the kernel knows",
	 .get = group_is_aux},
	{.name = "group.read_size",
	 .about = "bytes of the largest read of the group with this event",
	 .unknown = others,
	 .get = group_read_size},
	{.name = NULL}};
