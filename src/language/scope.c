/* SPDX-License-Identifier: MIT */
/*
 * Variables of the case language.
 */
#include "language/scope.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "machine/limits.h"

static const char *const given_names[] = {"page_size",
					  "cpus",
					  "cpu",
					  "pid",
					  "tid",
					  "uid",
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
					  "mlock.pages",
					  "mlock.fits",
					  "mlock.over",
					  "mlock.extra",
					  NULL};

const char *scope_help(void)
{
	return "  $page_size          bytes\n"
	       "  $cpus, $cpu         possible cpus; the one the case runs on\n"
	       "  $pid, $tid, $uid    the case's own process, thread and user\n"
	       "  $runner             perfabi's process, which is root's when it is\n"
	       "  $unmapped           an address at which nothing is mapped\n"
	       "  $kernel_address     an address in the kernel's half\n"
	       "  $kernel.attr_size   the running kernel's sizeof(struct perf_event_attr)\n"
	       "  $abi.attr_size      the newest one that cases/abi knows\n"
	       "  $regs.reserved, $regs.extended   register masks of this architecture\n"
	       "  $sysctl.NAME        perf_event_paranoid, perf_event_max_sample_rate, ...\n"
	       "  $mlock.pages        what perf_event_mlock_kb gives a user, on all cpus together\n"
	       "  $mlock.fits, $mlock.over   the largest buffer within it, the smallest beyond\n"
	       "  $mlock.extra        bytes of RLIMIT_MEMLOCK that the latter takes beside it\n"
	       "  $pmu.NAME           the PMU's type number in sysfs\n"
	       "  $tracepoint.SYSTEM:EVENT   its id in tracefs\n";
}

static int is_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n > 0 && n < SCOPE_NAME && !name[n] && !isdigit((unsigned char)name[0]);
}

/* The binding of that name, a new one where there is none; NULL when there is no more room. */
static struct binding *binding_of(struct scope *scope, const char *name)
{
	for (size_t i = 0; i < scope->count; i++)
		if (!strcmp(scope->list[i].name, name))
			return &scope->list[i];
	if (scope->count == SCOPE_MAX)
		return NULL;
	scope->list[scope->count] = (struct binding){0};
	memcpy(scope->list[scope->count].name, name, strlen(name) + 1);
	return &scope->list[scope->count++];
}

static int bind(struct scope *scope, const char *name, uint64_t value, json_t *json)
{
	struct binding *b;

	if (name_index(name, given_names, NULL) >= 0)
		return -EEXIST;
	b = binding_of(scope, name);
	if (!b)
		return -ENOSPC;
	json_decref(b->json);
	b->json = json_incref(json);
	b->value = value;
	return 0;
}

int scope_bind(struct scope *scope, const char *name, uint64_t value)
{
	return is_name(name) ? bind(scope, name, value, NULL) : -EINVAL;
}

int scope_bind_json(struct scope *scope, const char *name, json_t *json)
{
	return is_name(name) ? bind(scope, name, 0, json) : -EINVAL;
}

int scope_bind_member(struct scope *scope, const char *name, const char *member, uint64_t value)
{
	char whole[SCOPE_NAME];
	int n = snprintf(whole, sizeof(whole), "%s.%s", name, member);

	if (!is_name(name) || n < 0 || (size_t)n >= sizeof(whole))
		return -EINVAL;
	return bind(scope, whole, value, NULL);
}

void scope_copy(struct scope *to, const struct scope *from)
{
	*to = *from;
	for (size_t i = 0; i < to->count; i++)
		json_incref(to->list[i].json);
}

void scope_free(struct scope *scope)
{
	for (size_t i = 0; i < scope->count; i++)
		json_decref(scope->list[i].json);
	scope->count = 0;
}

/* The member of `json` at a path of keys and indexes joined by dots; NULL where there is none. */
static json_t *member_at(json_t *json, const char *path)
{
	while (json && *path) {
		size_t n = strcspn(path, ".");
		char key[SCOPE_NAME];

		if (n >= sizeof(key))
			return NULL;
		memcpy(key, path, n);
		key[n] = '\0';
		json = json_is_array(json) ? json_array_get(json, strtoul(key, NULL, 10))
					   : json_object_get(json, key);
		path += n + (path[n] == '.');
	}
	return json;
}

/* The binding that "a.b.c" is of, and the path behind it. */
static const struct binding *find_binding(const struct scope *scope, const char *name,
					  const char **path)
{
	const struct binding *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < scope->count; i++) {
		size_t n = strlen(scope->list[i].name);

		if (n < longest || strncmp(name, scope->list[i].name, n) ||
		    (name[n] && name[n] != '.'))
			continue;
		found = &scope->list[i];
		longest = n;
	}
	*path = name + longest + (name[longest] == '.');
	return found;
}

json_t *scope_json(const struct scope *scope, const char *name)
{
	const char *path;
	const struct binding *b = find_binding(scope, name, &path);
	json_t *json = b && b->json ? member_at(b->json, path) : NULL;

	return json_is_integer(json) ? NULL : json;
}

/* What is bound as "name" or "name.member" as a number; -ENODATA for a text without one. */
static int from_binding(const struct scope *scope, const struct binding *b, const char *path,
			uint64_t *value, bool *known)
{
	json_t *json = b->json ? member_at(b->json, path) : NULL;
	char *end = NULL;

	*value = b->value;
	*known = !scope->checking;
	if (scope->checking)
		return 0;
	if (!b->json)
		return *path ? -ENODATA : 0;
	if (json_is_integer(json))
		*value = (uint64_t)json_integer_value(json);
	else if (json_is_string(json)) /* an address */
		*value = strtoull(json_string_value(json), &end, 0);
	return json_is_integer(json) || (end && !*end) ? 0 : -ENODATA;
}

static int from_sysctl(int value, uint64_t *out)
{
	*out = (uint64_t)(int64_t)value;
	return value == SYSCTL_ABSENT ? -ENOTSUP : 0;
}

/*
 * What buffers of a user may take (perf_mmap()): perf_event_mlock_kb of whole pages for each online
 * cpu, of which a buffer of 2^n pages takes one more, the metadata page.
 */
static int from_mlock(const struct environment *env, const char *name, uint64_t *value)
{
	uint64_t pages = (uint64_t)env->mlock_kb * 1024 / env->page_size * env->cpus_online;
	uint64_t fits = 1;

	if (env->mlock_kb == SYSCTL_ABSENT || env->cpus_filtered || pages < 2)
		return -ENOTSUP;
	while (2 * fits + 1 <= pages)
		fits *= 2;
	if (2 * fits * env->page_size > LIMITS_ADDRESS_SPACE / 2) /* ENOMEM would come first */
		return -ENOTSUP;
	if (!strcmp(name, "pages"))
		*value = pages;
	else if (!strcmp(name, "fits"))
		*value = fits;
	else if (!strcmp(name, "over"))
		*value = 2 * fits;
	else
		*value = (2 * fits + 1 - pages) * env->page_size;
	return 0;
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
	if (!strncmp(name, "mlock.", 6))
		return from_mlock(env, name + 6, value);
	if (!strcmp(name, "page_size"))
		*value = env->page_size;
	else if (!strcmp(name, "cpus"))
		*value = env->cpus_possible;
	else if (!strcmp(name, "cpu"))
		*value = (uint64_t)sched_getcpu();
	else if (!strcmp(name, "pid"))
		*value = (uint64_t)getpid();
	else if (!strcmp(name, "tid"))
		*value = (uint64_t)gettid();
	else if (!strcmp(name, "uid"))
		*value = (uint64_t)getuid();
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
	const char *path;
	const struct binding *b = find_binding(scope, name, &path);

	if (scope->was_asked)
		*scope->was_asked = true;
	if (b)
		return from_binding(scope, b, path, value, known);
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

/* What `name` stands for in a text. */
static int name_text(const struct scope *scope, const char *name, char *out, size_t size)
{
	json_t *json = scope_json(scope, name);
	uint64_t value = 0;
	bool known;
	int n;

	if (json_is_string(json))
		n = snprintf(out, size, "%s", json_string_value(json));
	else if (lookup(scope, name, &value, &known, NULL))
		return -ENOENT;
	else
		n = snprintf(out, size, "%llu", (unsigned long long)value);
	return n < 0 || (size_t)n >= size ? -ENOSPC : n;
}

int scope_expand(const struct scope *scope, const char *text, char *out, size_t size)
{
	size_t at = 0;

	while (*text) {
		char name[SCOPE_NAME];
		size_t n;
		int written;

		if (*text != '$') {
			if (at + 1 >= size)
				return -ENOSPC;
			out[at++] = *text++;
			continue;
		}
		n = strspn(++text, "abcdefghijklmnopqrstuvwxyz0123456789_.");
		while (n && text[n - 1] == '.') /* the end of a sentence or a file's suffix */
			n--;
		if (n >= sizeof(name))
			return -ENOENT;
		memcpy(name, text, n);
		name[n] = '\0';
		text += n;
		written = name_text(scope, name, out + at, size - at);
		if (written < 0)
			return written;
		at += (size_t)written;
	}
	out[at] = '\0';
	return 0;
}
