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
#include "machine/property.h"

static int is_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n > 0 && n < VARIABLE_NAME && !name[n] && !isdigit((unsigned char)name[0]);
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

static bool names_variable(const char *name);

static int bind(struct scope *scope, const char *name, uint64_t value, json_t *json)
{
	struct binding *b;

	if (names_variable(name))
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

static bool is_same(const struct value_shape *a, const struct value_shape *b)
{
	return a->kind == b->kind && a->members == b->members && a->records == b->records &&
	       a->more == b->more;
}

int scope_bind_shape(struct scope *scope, const char *name, const struct value_shape *shape)
{
	size_t before = scope->count;
	int err = scope_bind(scope, name, 0);
	struct binding *b = err ? NULL : binding_of(scope, name);

	if (b && scope->count > before)
		b->shape = *shape;
	else if (b && !is_same(&b->shape, shape))
		b->shape = (struct value_shape){0};
	return err;
}

int scope_bind_json(struct scope *scope, const char *name, json_t *json)
{
	return is_name(name) ? bind(scope, name, 0, json) : -EINVAL;
}

int scope_bind_member(struct scope *scope, const char *name, const char *member, uint64_t value)
{
	char whole[VARIABLE_NAME];
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
		char key[VARIABLE_NAME];

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
static int from_binding(const struct binding *b, const char *path, struct value *value)
{
	json_t *json = b->json ? member_at(b->json, path) : NULL;
	char *end = NULL;

	value->bits = b->value;
	if (!b->json)
		return *path ? -ENODATA : 0;
	if (json_is_integer(json))
		*value = value_of_s64(json_integer_value(json));
	else if (json_is_string(json)) /* an address */
		value->bits = strtoull(json_string_value(json), &end, 0);
	return json_is_integer(json) || (end && !*end) ? 0 : -ENODATA;
}

/* The variables that are no property of the machine. */
enum which {
	OWN_CPU,
	HARDWARE_CPU,
	OWN_PID,
	OWN_TID,
	OWN_UID,
	RUNNER_PID,
	UNMAPPED,
	KERNEL_ADDRESS,
	KERNEL_START,
	ABI_ATTR_SIZE,
	ABI_ATTR_RESERVED,
	REGS_RESERVED,
	REGS_EXTENDED,
	MLOCK_PAGES,
	MLOCK_FITS,
	MLOCK_OVER,
	MLOCK_EXTRA
};

/*
 * What buffers of a user may take (perf_mmap()): perf_event_mlock_kb of whole pages for each online
 * cpu, of which a buffer of 2^n pages takes one more, the metadata page.
 */
static int from_mlock(const struct environment *env, enum which which, uint64_t *out)
{
	uint64_t pages =
		(uint64_t)env->sysctls[SYSCTL_MLOCK_KB] * 1024 / env->page_size * env->cpus_online;
	uint64_t fits = 1;

	if (env->sysctls[SYSCTL_MLOCK_KB] == SYSCTL_ABSENT || env->cpus_filtered || pages < 2)
		return -ENOTSUP;
	while (2 * fits + 1 <= pages)
		fits *= 2;
	*out = which == MLOCK_PAGES  ? pages
	       : which == MLOCK_FITS ? fits
	       : which == MLOCK_OVER ? 2 * fits
				     : (2 * fits + 1 - pages) * env->page_size;
	/* ENOMEM would come first */
	return 2 * fits * env->page_size > LIMITS_ADDRESS_SPACE / 2 ? -ENOTSUP : 0;
}

/* 0, or a negative errno: this machine does not tell. */
static int from_vocabulary(const struct scope *scope, enum which which, uint64_t *out)
{
	static const char *const apart[] = {"s390", "parisc", NULL}; /* the kernel's own space */
	const struct environment *env = scope->env;
	const struct abi *abi = env->abi; /* behind an exec there is none */
	const struct abi_field *reserved = abi ? abi_field(abi, "__reserved_1") : NULL;
	const struct abi_arch *arch = env->arch;
	bool is_64 = env->kernel_bits == 64;
	int cpu;

	switch (which) {
	case OWN_CPU:
	case HARDWARE_CPU:
		cpu = which == OWN_CPU ? sched_getcpu() : hardware_cpu(&env->hardware);
		*out = (uint64_t)cpu;
		return which == HARDWARE_CPU && cpu < 0 ? -ENODEV : 0;
	case OWN_PID:
		*out = (uint64_t)getpid();
		return 0;
	case OWN_TID:
		*out = (uint64_t)gettid();
		return 0;
	case OWN_UID:
		*out = (uint64_t)getuid();
		return 0;
	case RUNNER_PID:
		*out = (uint64_t)getppid();
		return 0;
	case UNMAPPED:
		*out = (uintptr_t)scope->unmapped;
		return 0;
	case KERNEL_ADDRESS: /* high in the kernel's half, where nothing of it is either */
		*out = is_64 ? UINT64_C(0xffffffff00001000) : UINT64_C(0xfffff000);
		return 0;
	case KERNEL_START: /* at the upper end of all addresses; 32-bit users have 1 GiB at least */
		*out = is_64 ? UINT64_C(1) << 63 : UINT64_C(1) << 30;
		*out = arch && name_index(arch->name, apart, NULL) >= 0 ? 0 : *out;
		return 0;
	case ABI_ATTR_SIZE:
		*out = abi ? abi->attr_size : 0;
		return *out ? 0 : -ENODEV;
	case ABI_ATTR_RESERVED:
		*out = reserved ? (UINT64_C(1) << reserved->width) - 1 : 0;
		return reserved ? 0 : -ENODEV;
	case REGS_RESERVED:
	case REGS_EXTENDED:
		*out = !arch ? 0 : which == REGS_EXTENDED ? arch->extended : arch->reserved[is_64];
		return arch ? 0 : -ENODEV;
	default:
		return from_mlock(env, which, out);
	}
}

struct variable {
	const char *name, *help;
	enum which which;
	const struct property *property; /* NULL: it is `which` */
};

static const struct variable variables[] = {
	{"cpu", "the cpu that the case runs on at that moment; see `affinity`", .which = OWN_CPU},
	{"hardware.cpu", "a cpu where plain hardware events count; $cpu if they do there",
	 .which = HARDWARE_CPU},
	{"pid", "the case's own process", .which = OWN_PID},
	{"tid", "its thread", .which = OWN_TID},
	{"uid", "its user", .which = OWN_UID},
	{"runner", "perfabi's own process", .which = RUNNER_PID},
	{"unmapped", "an address at which nothing is mapped", .which = UNMAPPED},
	{"kernel_address", "an address in the kernel's half", .which = KERNEL_ADDRESS},
	{"kernel_start", "the kernel has no address below it", .which = KERNEL_START},
	{"abi.attr_size", "the newest attr_size in cases/abi", .which = ABI_ATTR_SIZE},
	{"abi.attr_reserved",
	 "the attr bits that have no name in cases/abi, as a mask in __reserved_1",
	 .which = ABI_ATTR_RESERVED},
	{"regs.reserved", "registers of this architecture that the kernel refuses, a mask",
	 .which = REGS_RESERVED},
	{"regs.extended", "its extended registers, a mask", .which = REGS_EXTENDED},
	{"mlock.pages", "pages that perf_event_mlock_kb allows a user, on all cpus together",
	 .which = MLOCK_PAGES},
	{"mlock.fits", "data pages of the largest buffer within it", .which = MLOCK_FITS},
	{"mlock.over", "data pages of the smallest buffer beyond it", .which = MLOCK_OVER},
	{"mlock.extra", "bytes of RLIMIT_MEMLOCK that $mlock.over takes in addition",
	 .which = MLOCK_EXTRA},
};

/* The vocabulary: properties of the machine, and the rest. False behind the last. */
static bool variable_at(size_t i, struct variable *out)
{
	const struct property *p;

	for (size_t k = 0; (p = property_at(k)); k++) {
		if (!p->variable.name || i--)
			continue;
		*out = (struct variable){p->variable.name, p->variable.help, .property = p};
		return true;
	}
	if (i >= sizeof(variables) / sizeof(variables[0]))
		return false;
	*out = variables[i];
	return true;
}

/* False: there is none of that name; `near` (may be NULL) is offered all then. */
static bool variable_named(const char *name, struct variable *out, struct nearest *near)
{
	for (size_t i = 0; variable_at(i, out); i++)
		if (!strcmp(out->name, name))
			return true;
	for (size_t i = 0; near && variable_at(i, out); i++)
		nearest_try(near, out->name);
	return false;
}

static bool names_variable(const char *name)
{
	struct variable ignored;

	return variable_named(name, &ignored, NULL);
}

void scope_help(FILE *f)
{
	struct variable variable;

	for (size_t i = 0; variable_at(i, &variable); i++)
		fprintf(f, "  $%-34s %s\n", variable.name, variable.help);
	fprintf(f, "  $%-34s %s\n", "pmu.NAME", "the PMU's type number in sysfs");
	fprintf(f, "  $%-34s %s\n", "pmu.NAME.cpu",
		"a cpu that perfabi may use of a PMU with a cpumask or cpus");
	fprintf(f, "  $%-34s %s\n", "tracepoint.SYSTEM:EVENT", "its id in tracefs");
}

/* NAME: its type. NAME.cpu: a cpu that it is of. */
static int from_pmu(const struct environment *env, const char *name, uint64_t *out)
{
	const size_t length = scope_pmu_name_length(name, strlen(name));
	const struct pmu *pmu;
	char own[VARIABLE_NAME];
	int cpu;

	snprintf(own, sizeof(own), "%.*s", (int)length, name);
	pmu = environment_pmu(env, own);
	cpu = pmu && name[length] ? environment_cpu_of_pmu(env, pmu) : 0;
	*out = !pmu ? 0 : name[length] ? (uint64_t)cpu : pmu->type;
	return pmu && cpu >= 0 ? 0 : -ENODEV;
}

/* What has no binding: a variable, or a PMU's or tracepoint's number. */
static int from_machine(const struct scope *scope, const char *name, struct value *value,
			struct nearest *near)
{
	bool is_pmu = !strncmp(name, "pmu.", 4), is_tracepoint = !strncmp(name, "tracepoint.", 11);
	const struct tracepoint *tracepoint;
	struct variable variable = {0};
	uint64_t datum;
	bool known;

	if (!is_pmu && !is_tracepoint && !variable_named(name, &variable, near))
		return -ENOENT;
	if (scope->checking)
		return 0;
	if (is_pmu)
		return from_pmu(scope->env, name + 4, &value->bits);
	if (is_tracepoint) {
		tracepoint = environment_known_tracepoint(scope->env, name + 11);
		value->bits = tracepoint ? tracepoint->id : 0;
		return tracepoint ? 0 : -ENODEV;
	}
	if (!variable.property)
		return from_vocabulary(scope, variable.which, &value->bits);
	known = datum_get(scope->env, &variable.property->of, &datum);
	*value = value_of_s64((int64_t)datum);
	return known ? 0 : -ENODEV;
}

static int lookup(const void *context, const char *name, struct value *value, struct nearest *near)
{
	const struct scope *scope = context;
	const char *path;
	const struct binding *b = find_binding(scope, name, &path);
	int err;

	*value = (struct value){.known = !scope->checking};
	if (scope->was_asked)
		*scope->was_asked = true;
	if (b && scope->checking)
		return shape_has(&b->shape, path, near) ? 0 : -ENOENT;
	if (b)
		return from_binding(b, path, value);
	err = from_machine(scope, name, value, near);
	for (size_t i = 0; err == -ENOENT && i < scope->count && near; i++)
		nearest_try(near, scope->list[i].name);
	return err;
}

struct vars scope_vars(const struct scope *scope)
{
	return (struct vars){.lookup = lookup, .context = scope};
}

/* What `name` stands for in a text. */
static int name_text(const struct scope *scope, const char *name, char *out, size_t size)
{
	json_t *json = scope_json(scope, name);
	struct value value;
	int n;

	if (json_is_string(json))
		n = snprintf(out, size, "%s", json_string_value(json));
	else if (lookup(scope, name, &value, NULL))
		return -ENOENT;
	else
		n = snprintf(out, size, value.negative ? "%lld" : "%llu", (long long)value.bits);
	return n < 0 || (size_t)n >= size ? -ENOSPC : n;
}

size_t scope_pmu_name_length(const char *name, size_t n)
{
	return n > 4 && !strncmp(name + n - 4, ".cpu", 4) ? n - 4 : n;
}

size_t scope_name_length(const char *text)
{
	/* sysfs and tracefs have names of their own kind. */
	bool is_theirs = !strncmp(text, "pmu.", 4) || !strncmp(text, "tracepoint.", 11);
	size_t n = strspn(text, !is_theirs ? "abcdefghijklmnopqrstuvwxyz0123456789_."
					   : "abcdefghijklmnopqrstuvwxyz0123456789_.:"
					     "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	while (n && strchr(".:", text[n - 1])) /* the end of a sentence or a file's suffix */
		n--;
	return n;
}

int scope_expand(const struct scope *scope, const char *text, char *out, size_t size)
{
	size_t at = 0;

	while (*text) {
		char name[VARIABLE_NAME];
		size_t n;
		int written;

		if (*text != '$') {
			if (at + 1 >= size)
				return -ENOSPC;
			out[at++] = *text++;
			continue;
		}
		n = scope_name_length(++text);
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
