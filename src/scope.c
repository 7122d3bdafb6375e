/* SPDX-License-Identifier: MIT */
/*
 * Variables of the case language.
 */
#include "scope.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *const given_names[] = {"page_size",
					  "cpus",
					  "cpu",
					  "pid",
					  "runner",
					  "unmapped",
					  "kernel_address",
					  "kernel.attr_size",
					  "abi.attr_size",
					  "regs.reserved",
					  "regs.extended",
					  "sysctl.perf_event_paranoid",
					  "sysctl.perf_event_max_sample_rate",
					  "sysctl.perf_event_max_stack",
					  "sysctl.perf_event_mlock_kb",
					  NULL};

const char *scope_help(void)
{
	return "  $page_size          bytes\n"
	       "  $cpus, $cpu         possible cpus; the one the case runs on\n"
	       "  $pid, $runner       the case's own process; perfabi's, which is root's when it "
	       "is\n"
	       "  $unmapped           an address at which nothing is mapped\n"
	       "  $kernel_address     an address in the kernel's half\n"
	       "  $kernel.attr_size   the running kernel's sizeof(struct perf_event_attr)\n"
	       "  $abi.attr_size      the newest one that cases/abi knows\n"
	       "  $regs.reserved, $regs.extended   register masks of this architecture\n"
	       "  $sysctl.NAME        perf_event_paranoid, perf_event_max_sample_rate, ...\n"
	       "  $pmu.NAME           the PMU's type number in sysfs\n"
	       "  $tracepoint.SYSTEM:EVENT   its id in tracefs\n";
}

static int is_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n > 0 && n < SCOPE_NAME && !name[n] && !isdigit((unsigned char)name[0]);
}

int scope_bind(struct scope *scope, const char *name, uint64_t value)
{
	struct binding *b = NULL;

	if (!is_name(name))
		return -EINVAL;
	for (size_t i = 0; i < scope->count; i++)
		if (!strcmp(scope->list[i].name, name))
			b = &scope->list[i];
	if (!b) {
		if (scope->count == SCOPE_MAX)
			return -ENOSPC;
		b = &scope->list[scope->count++];
	}
	memcpy(b->name, name, strlen(name) + 1);
	b->value = value;
	return 0;
}

static int from_sysctl(int value, uint64_t *out)
{
	*out = (uint64_t)(int64_t)value;
	return value == SYSCTL_ABSENT ? -ENOTSUP : 0;
}

/* An address that no user mapping has: high in the kernel's half, where nothing of it is either. */
static uint64_t kernel_address(const struct environment *env)
{
	return env->bits == 64 ? UINT64_C(0xffffffff00001000) : UINT64_C(0xfffff000);
}

static int from_environment(const struct scope *scope, const char *name, uint64_t *value)
{
	const struct environment *env = scope->env;
	const struct tracepoint *tracepoint;
	const struct pmu *pmu;

	if (!strncmp(name, "pmu.", 4)) {
		pmu = environment_pmu(env, name + 4);
		*value = pmu ? pmu->type : 0;
		return pmu ? 0 : -ENODEV;
	}
	if (!strncmp(name, "tracepoint.", 11)) {
		tracepoint = environment_known_tracepoint(env, name + 11);
		*value = tracepoint ? tracepoint->id : 0;
		return tracepoint ? 0 : -ENODEV;
	}
	if (!strcmp(name, "sysctl.perf_event_paranoid"))
		return from_sysctl(env->paranoid, value);
	if (!strcmp(name, "sysctl.perf_event_max_sample_rate"))
		return from_sysctl(env->max_sample_rate, value);
	if (!strcmp(name, "sysctl.perf_event_max_stack"))
		return from_sysctl(env->max_stack, value);
	if (!strcmp(name, "sysctl.perf_event_mlock_kb"))
		return from_sysctl(env->mlock_kb, value);
	if (!strcmp(name, "page_size"))
		*value = env->page_size;
	else if (!strcmp(name, "cpus"))
		*value = env->cpus_possible;
	else if (!strcmp(name, "cpu"))
		*value = (uint64_t)sched_getcpu();
	else if (!strcmp(name, "pid"))
		*value = (uint64_t)getpid();
	else if (!strcmp(name, "runner"))
		*value = (uint64_t)getppid();
	else if (!strcmp(name, "unmapped"))
		*value = (uintptr_t)scope->unmapped;
	else if (!strcmp(name, "kernel_address"))
		*value = kernel_address(env);
	else if (!strcmp(name, "abi.attr_size"))
		*value = env->abi->attr_size;
	else if (!strcmp(name, "kernel.attr_size") && env->attr_size)
		*value = env->attr_size;
	else if (!strcmp(name, "regs.reserved") && env->arch)
		*value = env->arch->reserved[env->bits == 64];
	else if (!strcmp(name, "regs.extended") && env->arch)
		*value = env->arch->extended;
	else
		return -ENODEV;
	return 0;
}

static int lookup(const void *context, const char *name, uint64_t *value, bool *known,
		  struct nearest *near)
{
	const struct scope *scope = context;
	int given = !strncmp(name, "pmu.", 4) || !strncmp(name, "tracepoint.", 11);

	for (size_t i = 0; i < scope->count; i++) {
		if (strcmp(scope->list[i].name, name))
			continue;
		*value = scope->list[i].value;
		*known = !scope->checking;
		return 0;
	}
	if (!given && name_index(name, given_names, near) < 0) {
		for (size_t i = 0; i < scope->count && near; i++)
			nearest_try(near, scope->list[i].name);
		return -ENOENT;
	}
	*known = !scope->checking;
	return scope->checking ? 0 : from_environment(scope, name, value);
}

struct vars scope_vars(const struct scope *scope)
{
	return (struct vars){.lookup = lookup, .context = scope};
}

int scope_expand(const struct scope *scope, const char *text, char *out, size_t size)
{
	size_t at = 0;

	while (*text) {
		char name[SCOPE_NAME];
		uint64_t value = 0;
		bool known;
		size_t n;

		if (*text != '$') {
			if (at + 1 >= size)
				return -ENOSPC;
			out[at++] = *text++;
			continue;
		}
		n = strspn(++text, "abcdefghijklmnopqrstuvwxyz0123456789_");
		if (n >= sizeof(name))
			return -ENOENT;
		memcpy(name, text, n);
		name[n] = '\0';
		text += n;
		if (lookup(scope, name, &value, &known, NULL))
			return -ENOENT;
		n = (size_t)snprintf(out + at, size - at, "%llu", (unsigned long long)value);
		if (n >= size - at)
			return -ENOSPC;
		at += n;
	}
	out[at] = '\0';
	return 0;
}
