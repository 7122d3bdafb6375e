/* SPDX-License-Identifier: MIT */
/*
 * The other arguments of the call, and what they name: task, cpu, cgroup.
 */
#include "abi/attr.h"
#include "machine/cpus.h"
#include "model/fact.h"

static bool call_flags(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->call->flags;
	return true;
}

static bool call_pid(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = (uint64_t)(int64_t)s->call->pid;
	return true;
}

static bool call_cpu(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = (uint64_t)(int64_t)s->call->cpu;
	return true;
}

static bool call_group_fd(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = (uint64_t)(int64_t)s->call->group_fd;
	return true;
}

/* The clock that times come from: clockid, where use_clockid says so. */
static bool call_clock(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = attr_get(s->machine->use_clockid, s->attr, host_order())
			 ? attr_get(s->machine->clockid, s->attr, host_order())
			 : UINT64_MAX;
	return true;
}

static bool call_exists(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct world_task *task = situation_task(s);

	(void)fact;
	*value = task && task->exists;
	return task != NULL;
}

static bool call_is_exiting(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct world_task *task = situation_task(s);

	(void)fact;
	*value = task && task->is_exiting;
	return task != NULL;
}

static bool call_may_be_read(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct world_task *task = situation_task(s);

	(void)fact;
	*value = task && task->may_be_read;
	return task != NULL;
}

static bool call_may_be_attached(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct world_task *task = situation_task(s);

	(void)fact;
	*value = task && task->may_be_attached;
	return task != NULL;
}

static bool call_is_own(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct world_task *task = situation_task(s);

	(void)fact;
	*value = task && task->is_own;
	return task != NULL;
}

static bool call_target(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = situation_has_task(s) ? (uint64_t)(int64_t)situation_pid(s) : UINT64_MAX;
	return true;
}

static bool call_is_possible(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	(void)fact;
	*value = s->call->cpu >= 0 && (unsigned)s->call->cpu < env->cpu_limit;
	return env->cpu_limit != 0;
}

static bool call_is_online(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	(void)fact;
	*value = s->call->cpu >= 0 && cpu_list_has(env->online, (unsigned)s->call->cpu);
	return cpu_list_is_known(env->online);
}

static bool call_is_open(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->file != NULL;
	return true;
}

static bool call_is_cgroup(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->file && s->file->is_cgroup;
	return true;
}

static bool call_has_perf_event(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->file && s->file->has_perf_event;
	return true;
}

static bool call_cgroup(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->file ? (uint64_t)s->file->cgroup : 0;
	return true;
}

static const char elsewhere[] =
	"whether there is such a process, and who may observe it, is not known here";
static const char cpus[] = "which cpus the machine has is not recorded";

const struct fact call_facts[] = {
	{.name = "call.flags",
	 .about = "the argument flags",
	 .get = call_flags,
	 .is_mask = true,
	 .family = "open_flags"},
	{.name = "call.pid", .about = "the argument pid", .get = call_pid, .is_signed = true},
	{.name = "call.cpu", .about = "the argument cpu", .get = call_cpu, .is_signed = true},
	{.name = "call.group_fd",
	 .about = "the argument group_fd",
	 .get = call_group_fd,
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
	 .get = call_exists,
	 .unknown = elsewhere},
	{.name = "target.is_exiting",
	 .about = "1: it has exited, and is not reaped",
	 .get = call_is_exiting,
	 .unknown = elsewhere},
	{.name = "target.may_be_read",
	 .about = "1: the caller may look into it (ptrace(2), READ_REALCREDS)",
	 .get = call_may_be_read,
	 .unknown = elsewhere},
	{.name = "target.may_be_attached",
	 .about = "1: the caller may trace it (ptrace(2), ATTACH_REALCREDS)",
	 .get = call_may_be_attached,
	 .unknown = elsewhere},
	{.name = "target.is_own",
	 .about = "1: its uids are the caller's",
	 .get = call_is_own,
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
	{.name = "cgroup.is_cgroup",
	 .about = "1: it is a cgroup's directory",
	 .get = call_is_cgroup},
	{.name = "cgroup.has_perf_event",
	 .about = "1: its hierarchy has the perf_event controller",
	 .get = call_has_perf_event},
	{.name = "cgroup.id",
	 .about = "a number of the cgroup; 0: there is none",
	 .get = call_cgroup,
	 .is_signed = true},
	{.name = NULL}};
