/* SPDX-License-Identifier: MIT */
/*
 * Who calls, and the machine's settings.
 */
#include <errno.h>

#include "model/fact.h"

struct caller caller_as(const struct rights *rights, enum identity as)
{
	uint64_t capabilities = identity_capabilities(rights, as);

	return (struct caller){.as = as,
			       .has_files = true,
			       .changes_uid = rights->changes_uid,
			       .is_unnamed = !rights->init_user_namespace &&
					     rights->uid == IDENTITY_NOBODY,
			       .own = capabilities,
			       .capabilities = rights->init_user_namespace ? capabilities : 0};
}

static bool has(const struct situation *s, int capability)
{
	return s->caller->capabilities >> capability & 1;
}

/* perfmon_capable(): CAP_SYS_ADMIN is all that there is on kernels without CAP_PERFMON. */
static bool caller_perfmon(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct lesson *lesson = learned_find(s->machine->learned, "kernel.has_perfmon");

	(void)fact;
	*value = has(s, CAP_SYS_ADMIN) || (lesson && lesson->value && has(s, CAP_PERFMON));
	return *value || !has(s, CAP_PERFMON) || (lesson && lesson->is_known);
}

static bool caller_is_in_namespace(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = !s->machine->env->rights.init_user_namespace;
	return true;
}

static bool caller_sys_admin(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = has(s, CAP_SYS_ADMIN);
	return true;
}

static bool caller_kill(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = has(s, CAP_KILL);
	return true;
}

static bool caller_ipc_lock(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = has(s, CAP_IPC_LOCK);
	return true;
}

static bool caller_can_open_files(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->caller->has_files;
	return true;
}

/*
 * Where it was not tried: what refuses all of one caller's events but for rights and
 * perf_event_paranoid, which have checks of their own, refuses those of all.
 */
static bool caller_control(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const int *control = s->machine->env->control;
	int err = control[s->caller->as];

	(void)fact;
	for (enum identity as = 0; err < 0 && as < IDENTITIES; as++)
		err = control[as] ? err : 0;
	*value = err > 0 ? (uint64_t)err : 0;
	return err >= 0;
}

static bool sysctl_value(int sysctl, uint64_t *value)
{
	*value = (uint64_t)(int64_t)sysctl;
	return sysctl != SYSCTL_ABSENT;
}

static bool caller_paranoid(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	return sysctl_value(s->machine->env->paranoid, value);
}

static bool caller_max_sample_rate(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	return sysctl_value(s->machine->env->max_sample_rate, value);
}

static bool caller_max_stack(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	return sysctl_value(s->machine->env->max_stack, value);
}

/* A distribution's kernel, as Debian's: a plain event of an ordinary user is refused. */
static bool caller_is_closed(const struct fact *fact, struct situation *s, uint64_t *value)
{
	int err = s->machine->env->control[AS_USER];

	(void)fact;
	*value = err == EACCES;
	return err >= 0;
}

static bool caller_filter_errno(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = (uint64_t)s->machine->env->filter_errno;
	return true;
}

/* ENOSYS can be a filter's answer, too: the sysctls are there all the same. */
static bool caller_has_call(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	(void)fact;
	*value = env->attr_size_errno != ENOSYS || env->paranoid != SYSCTL_ABSENT;
	return true;
}

static bool caller_is_virtual(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->machine->env->hypervisor[0] != '\0';
	return true;
}

static bool caller_page_size(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->machine->env->page_size;
	return *value != 0;
}

static bool caller_long_size(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = s->machine->env->kernel_bits / 8;
	return *value != 0;
}

/* A PMU whose rules are its own: a processor's, for the most part. */
static bool caller_has_other_pmus(const struct fact *fact, struct situation *s, uint64_t *value)
{
	(void)fact;
	*value = machine_has_other_pmus(s->machine);
	return true;
}

static const char sysctl[] = "the sysctl is not recorded of this machine";
static const char tried[] = "what that caller may open at all was not tried";
static const char recorded[] = "it is not recorded of this machine";

const struct fact caller_facts[] = {
	{.name = "caller.perfmon",
	 .about = "1: it has CAP_PERFMON or CAP_SYS_ADMIN",
	 .get = caller_perfmon,
	 .unknown = recorded},
	{.name = "caller.sys_admin", .about = "1: it has CAP_SYS_ADMIN", .get = caller_sys_admin},
	{.name = "caller.is_in_namespace",
	 .about = "1: it is in a user namespace, and perf asks for the first one's capabilities",
	 .get = caller_is_in_namespace},
	{.name = "caller.ipc_lock", .about = "1: it has CAP_IPC_LOCK", .get = caller_ipc_lock},
	{.name = "caller.kill", .about = "1: it has CAP_KILL", .get = caller_kill},
	{.name = "caller.can_open_files",
	 .about = "1: it may have one more file open (RLIMIT_NOFILE)",
	 .get = caller_can_open_files},
	{.name = "caller.control",
	 .about = "what a plain software event gives it, an errno; 0: it opens",
	 .get = caller_control,
	 .print = fact_print_errno,
	 .unknown = tried},
	{.name = "machine.paranoid",
	 .about = "perf_event_paranoid",
	 .get = caller_paranoid,
	 .unknown = sysctl,
	 .is_signed = true},
	{.name = "machine.max_sample_rate",
	 .about = "perf_event_max_sample_rate",
	 .get = caller_max_sample_rate,
	 .unknown = sysctl},
	{.name = "machine.max_stack",
	 .about = "perf_event_max_stack",
	 .get = caller_max_stack,
	 .unknown = sysctl},
	{.name = "machine.is_closed_to_users",
	 .about = "1: an ordinary user may open nothing here",
	 .get = caller_is_closed,
	 .unknown = tried},
	{.name = "machine.filter_errno",
	 .about = "what a filter or sandbox answers in the kernel's place, an errno, or 0",
	 .get = caller_filter_errno,
	 .print = fact_print_errno},
	{.name = "machine.has_call",
	 .about = "0: the kernel has no perf_event_open: ENOSYS, and no sysctl of perf's",
	 .get = caller_has_call},
	{.name = "machine.is_virtual",
	 .about = "1: a hypervisor is seen",
	 .get = caller_is_virtual},
	{.name = "machine.page_size",
	 .about = "bytes",
	 .get = caller_page_size,
	 .unknown = recorded},
	{.name = "machine.long_size",
	 .about = "bytes of the kernel's long",
	 .get = caller_long_size,
	 .unknown = recorded},
	{.name = "machine.has_other_pmus",
	 .about = "1: it has PMUs that are not modelled",
	 .get = caller_has_other_pmus},
	{.name = NULL}};
