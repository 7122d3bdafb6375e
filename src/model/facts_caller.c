/* SPDX-License-Identifier: MIT */
/*
 * Who calls, and the machine's settings.
 */
#include <errno.h>

#include "machine/proc.h"
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

static bool has(const struct evaluation *s, int capability)
{
	return s->caller->capabilities >> capability & 1;
}

/* perfmon_capable(): CAP_SYS_ADMIN is all that there is on kernels without CAP_PERFMON. */
static bool caller_perfmon(struct evaluation *s, uint64_t *value)
{
	uint64_t kernel_has;
	bool known = learned_get(s->machine->learned, "kernel.has_perfmon", &kernel_has);

	*value = has(s, CAP_SYS_ADMIN) || (kernel_has && has(s, CAP_PERFMON));
	return *value || !has(s, CAP_PERFMON) || known;
}

static bool caller_is_in_namespace(struct evaluation *s, uint64_t *value)
{
	*value = !s->machine->env->rights.init_user_namespace;
	return true;
}

/*
 * Where it was not tried: what refuses all of one caller's events but for rights and
 * perf_event_paranoid, which have checks of their own, refuses those of all.
 */
static bool caller_control(struct evaluation *s, uint64_t *value)
{
	const int *control = s->machine->env->control;
	int err = control[s->caller->as];

	for (enum identity as = 0; err < 0 && as < IDENTITIES; as++)
		err = control[as] ? err : 0;
	*value = err > 0 ? (uint64_t)err : 0;
	return err >= 0;
}

/* A distribution's kernel, as Debian's: a plain event of the caller `index` is refused. */
static bool is_closed_to(const struct fact *fact, struct evaluation *s, uint64_t *value)
{
	int err = s->machine->env->control[fact->index];

	*value = err == EACCES;
	return err >= 0;
}

/* ENOSYS can be a filter's answer, too: the sysctls are there all the same. */
static bool caller_has_call(struct evaluation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	*value = env->attr_size_errno != ENOSYS || env->sysctls[SYSCTL_PARANOID] != SYSCTL_ABSENT;
	return true;
}

static bool caller_long_size(struct evaluation *s, uint64_t *value)
{
	*value = s->machine->env->kernel_bits / 8;
	return *value != 0;
}

/* A PMU whose rules are its own: a processor's, for the most part. */
static bool caller_has_other_pmus(struct evaluation *s, uint64_t *value)
{
	*value = machine_has_other_pmus(s->machine);
	return true;
}

static bool caller_is_root(struct evaluation *s, uint64_t *value)
{
	*value = s->caller->as == AS_ROOT;
	return true;
}

static bool machine_processor_pmus(struct evaluation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	*value = 0;
	for (size_t i = 0; i < env->pmu_count; i++)
		*value += kinds_is_processor(s->machine->kinds, env->pmus[i].name);
	return env->pmu_count;
}

/* People read it as the list; as a number it is how many. */
static bool machine_online(struct evaluation *s, uint64_t *value)
{
	*value = s->machine->env->cpus_online;
	return cpu_list_is_known(s->machine->env->online);
}

static int print_online(const struct fact *fact, const struct evaluation *s, uint64_t value,
			char *out, size_t size)
{
	(void)fact;
	(void)value;
	return snprintf(out, size, "%s", s->machine->env->online);
}

/* Yama, AppArmor and others that are nearly always on ask nothing about events. */
static bool machine_has_lsm(struct evaluation *s, uint64_t *value)
{
	*value = strstr(s->machine->env->lsm, "selinux") != NULL;
	return true;
}

/* "4.4.0-19041-Microsoft" and "5.15.90.1-microsoft-standard-WSL2". */
static bool machine_wsl(struct evaluation *s, uint64_t *value)
{
	const char *release = s->machine->env->release;

	*value = strstr(release, "-Microsoft") ? 1 : strstr(release, "-microsoft-standard") ? 2 : 0;
	return true;
}

static bool machine_last_cpu(struct evaluation *s, uint64_t *value)
{
	*value = s->machine->env->cpu_limit ? s->machine->env->cpu_limit - 1 : 0;
	return s->machine->env->cpu_limit != 0;
}

static const void *caller_of(struct evaluation *s)
{
	return s->caller;
}

static const void *machine_called(struct evaluation *s)
{
	return s->machine->env;
}

static const void *objects_of(struct evaluation *s)
{
	return s->objects;
}

#define CALLER(name) .of = caller_of, .datum = DATUM(struct caller, name, ALWAYS_KNOWN)

static const char tried[] = "what that caller may open at all was not tried";
static const char recorded[] = "it is not recorded of this machine";

const struct fact caller_facts[] = {
	{"caller.perfmon", "1: it has CAP_PERFMON or CAP_SYS_ADMIN", recorded,
	 .get = caller_perfmon},
	{"caller.is_root", "1: it is root", NULL, .get = caller_is_root},
	{"caller.sys_admin", "1: it has CAP_SYS_ADMIN", NULL, CALLER(capabilities),
	 .mask = UINT64_C(1) << CAP_SYS_ADMIN},
	{"caller.is_in_namespace",
	 "1: it is in a user namespace, and perf asks for the first one's capabilities", NULL,
	 .get = caller_is_in_namespace},
	{"caller.ipc_lock", "1: it has CAP_IPC_LOCK", NULL, CALLER(capabilities),
	 .mask = UINT64_C(1) << CAP_IPC_LOCK},
	{"caller.kill", "1: it has CAP_KILL", NULL, CALLER(capabilities),
	 .mask = UINT64_C(1) << CAP_KILL},
	{"caller.can_open_files", "1: it can open another file (RLIMIT_NOFILE)", NULL,
	 CALLER(has_files)},
	{"caller.control", "the errno that a plain software event gives it; 0: it opens", tried,
	 .get = caller_control, .print = fact_print_errno},
	{"machine.is_closed_to_users", "1: an ordinary user may open nothing here", tried,
	 .get_by = is_closed_to, .index = AS_USER},
	{"machine.is_closed_to_perfmon", "1: nor may a caller with CAP_PERFMON", tried,
	 .get_by = is_closed_to, .index = AS_PERFMON},
	{"machine.filter_errno",
	 "the errno that a filter or sandbox returns in the kernel's place, or 0", NULL,
	 .of = machine_called, .datum = DATUM(struct environment, filter_errno, ALWAYS_KNOWN),
	 .print = fact_print_errno},
	{"machine.has_call",
	 "0: the kernel has no perf_event_open: ENOSYS, and no sysctl of perf's", NULL,
	 .get = caller_has_call},
	{"machine.long_size", "bytes of the kernel's long", recorded, .get = caller_long_size},
	{"machine.has_other_pmus", "1: it has PMUs that are not modelled", NULL,
	 .get = caller_has_other_pmus},
	{"machine.online", "the number of online cpus; in sentences, the list of them",
	 "it is not recorded of this machine", .get = machine_online, .print = print_online},
	{"machine.has_lsm",
	 "1: a security module that asks about events is known to be on: SELinux", NULL,
	 .get = machine_has_lsm},
	{"machine.wsl", "1 or 2: of Windows Subsystem for Linux, by the kernel's release; else 0",
	 NULL, .get = machine_wsl},
	{"machine.last_cpu", "the highest number that a cpu can have",
	 "it is not recorded of this machine", .get = machine_last_cpu},
	{"told.errno", "the errno that the call returned, here or elsewhere; 0: not known", NULL,
	 .of = objects_of, .datum = DATUM(struct objects, known_errno, ALWAYS_KNOWN),
	 .print = fact_print_errno},
	{"machine.processor_pmus", "the number of PMUs of its processors", "sysfs tells of no PMU",
	 .get = machine_processor_pmus},
	{.name = NULL}};
