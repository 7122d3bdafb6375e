/* SPDX-License-Identifier: MIT */
/*
 * The other arguments of the call, and what they name: task, cpu, cgroup.
 */
#include "abi/attr.h"
#include "machine/cpus.h"
#include "model/fact.h"

/* The clock that times come from: clockid, where use_clockid says so. */
static bool call_clock(struct situation *s, uint64_t *value)
{
	*value = attr_get(s->machine->use_clockid, s->attr, host_order())
			 ? attr_get(s->machine->clockid, s->attr, host_order())
			 : UINT64_MAX;
	return true;
}

static bool call_target(struct situation *s, uint64_t *value)
{
	*value = situation_has_task(s) ? (uint64_t)(int64_t)situation_pid(s) : UINT64_MAX;
	return true;
}

static bool call_is_possible(struct situation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	*value = s->call->cpu >= 0 && (unsigned)s->call->cpu < env->cpu_limit;
	return env->cpu_limit != 0;
}

static bool call_is_online(struct situation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	*value = s->call->cpu >= 0 && cpu_list_has(env->online, (unsigned)s->call->cpu);
	return cpu_list_is_known(env->online);
}

static bool call_is_open(struct situation *s, uint64_t *value)
{
	*value = s->file != NULL;
	return true;
}

static const void *call_of(struct situation *s)
{
	return s->call;
}

static const void *task_of(struct situation *s)
{
	return situation_task(s);
}

static const void *cgroup_of(struct situation *s)
{
	static const struct world_file none;

	return s->file ? s->file : &none;
}

#define CALL(name) .of = call_of, .datum = DATUM(struct call, name, ALWAYS_KNOWN)
#define TASK(name) .of = task_of, .datum = DATUM(struct world_task, name, ALWAYS_KNOWN)
#define CGROUP(name) .of = cgroup_of, .datum = DATUM(struct world_file, name, ALWAYS_KNOWN)

static const char elsewhere[] =
	"whether there is such a process, and who may observe it, is not known here";
static const char cpus[] = "which cpus the machine has is not recorded";

const struct fact call_facts[] = {
	{.name = "call.flags",
	 .about = "the argument flags",
	 CALL(flags),
	 .is_mask = true,
	 .family = "open_flags"},
	{.name = "call.pid", .about = "the argument pid", CALL(pid), .is_signed = true},
	{.name = "call.cpu", .about = "the argument cpu", CALL(cpu), .is_signed = true},
	{.name = "call.group_fd",
	 .about = "the argument group_fd",
	 CALL(group_fd),
	 .is_signed = true},
	{.name = "call.clock",
	 .about = "the clock of the event's times; -1: the default",
	 .get = call_clock,
	 .is_signed = true},
	{.name = "target.id",
	 .about = "the task's id, 0 for the caller's own; -1: the event is on none",
	 .get = call_target,
	 .is_signed = true},
	{.name = "target.exists",
	 .about = "1: there is such a process or thread",
	 TASK(exists),
	 .unknown = elsewhere},
	{.name = "target.is_exiting",
	 .about = "1: it has exited, and is not reaped",
	 TASK(is_exiting),
	 .unknown = elsewhere},
	{.name = "target.may_be_read",
	 .about = "1: the caller may look into it (ptrace(2), READ_REALCREDS)",
	 TASK(may_be_read),
	 .unknown = elsewhere},
	{.name = "target.may_be_attached",
	 .about = "1: the caller may trace it (ptrace(2), ATTACH_REALCREDS)",
	 TASK(may_be_attached),
	 .unknown = elsewhere},
	{.name = "target.is_own",
	 .about = "1: its uids are the caller's",
	 TASK(is_own),
	 .unknown = elsewhere},
	{.name = "cpu.is_possible",
	 .about = "1: the machine can have such a cpu",
	 .get = call_is_possible,
	 .unknown = cpus},
	{.name = "cpu.is_online",
	 .about = "1: the cpu runs",
	 .get = call_is_online,
	 .unknown = cpus},
	{.name = "cgroup.is_open", .about = "1: pid is an open file", .get = call_is_open},
	{.name = "cgroup.is_cgroup", .about = "1: it is a cgroup's directory", CGROUP(is_cgroup)},
	{.name = "cgroup.has_perf_event",
	 .about = "1: its hierarchy has the perf_event controller",
	 CGROUP(has_perf_event)},
	{.name = "cgroup.id",
	 .about = "a number of the cgroup; 0: there is none",
	 CGROUP(cgroup),
	 .is_signed = true},
	{.name = NULL}};
