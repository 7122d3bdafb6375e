/* SPDX-License-Identifier: MIT */
/*
 * The rows, and the environment as reports have it by them.
 */
#include "machine/property.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/proc.h"
#include "machine/names.h"
#include "machine/sysctl.h"
#include "text/json_text.h"

static const char opens_nothing[] = "opens nothing: ", opens_events[] = "opens events";

static json_t *write_arch(const struct environment *env)
{
	return env->arch ? json_string(env->arch->name) : json_null();
}

static json_t *bits_json(const struct environment *env)
{
	(void)env;
	return json_integer(sizeof(long) * 8);
}

static json_t *limit_json(rlim_t limit)
{
	return limit == RLIM_INFINITY ? json_string("unlimited") : json_integer((json_int_t)limit);
}

static json_t *write_memlock(const struct environment *env)
{
	return limit_json(env->memlock_soft);
}

static void read_memlock(struct environment *env, const json_t *json)
{
	env->memlock_soft =
		json_is_string(json) ? RLIM_INFINITY : (uint64_t)json_integer_value(json);
}

static json_t *write_nofile(const struct environment *env)
{
	return limit_json(env->nofile);
}

static void read_attr_size(struct environment *env, const json_t *json)
{
	const json_int_t n = json_integer_value(json);

	env->attr_size = n > 0 && n <= UINT32_MAX ? (unsigned)n : 0;
	env->attr_size_errno = env->attr_size ? E2BIG : 0;
}

static json_t *write_refuses_all(const struct environment *env)
{
	return env->filter_errno ? json_string(errno_name(env->filter_errno)) : NULL;
}

static void read_refuses_all(struct environment *env, const json_t *json)
{
	if (json_is_string(json)) {
		env->filter_errno = errno_by_name(json_string_value(json), NULL);
		env->attr_size_errno = env->filter_errno;
	}
}

static json_t *write_capabilities(const struct environment *env)
{
	return json_sprintf("0x%llx", (unsigned long long)env->rights.capabilities);
}

/* A caller there has what an identity is defined to have; root, all that a machine gives. */
static void read_capabilities(struct environment *env, const json_t *json)
{
	const char *mask = json_string_value(json);

	env->rights.capabilities = env->rights.uid || !mask
					   ? (UINT64_C(1) << (CAP_LAST_CAP + 1)) - 1
					   : strtoull(mask, NULL, 16);
}

static json_t *write_identities(const struct environment *env)
{
	json_t *object = json_object();

	for (enum identity as = 0; as < IDENTITIES; as++) {
		char why[128];
		json_t *value;

		if (!identity_available(&env->rights, as, why, sizeof(why)))
			value = json_sprintf("unavailable: %s", why);
		else if (env->control[as] > 0)
			value = json_sprintf("%s%s", opens_nothing, errno_name(env->control[as]));
		else
			value = json_string(env->control[as] ? "could not be tried" : opens_events);
		json_object_set_new(object, identity_names[as], value);
	}
	return object;
}

bool environment_opens(const json_t *identities, enum identity as)
{
	const char *text = json_string_value(json_object_get(identities, identity_names[as]));

	return text && !strcmp(text, opens_events);
}

static void read_identities(struct environment *env, const json_t *identities)
{
	const char *root = json_string_value(json_object_get(identities, identity_names[AS_ROOT]));

	for (enum identity as = 0; as < IDENTITIES; as++) {
		const char *text =
			json_string_value(json_object_get(identities, identity_names[as]));

		env->control[as] = environment_opens(identities, as) ? 0 : -1;
		if (text && !strncmp(text, opens_nothing, strlen(opens_nothing)))
			env->control[as] = errno_by_name(text + strlen(opens_nothing), NULL);
	}
	/* Old reports have had the namespace only as why nobody could become root there. */
	if (root && strstr(root, "user namespace"))
		env->rights.init_user_namespace = false;
}

static void read_namespace(struct environment *env, const json_t *json)
{
	env->rights.init_user_namespace = !json_is_false(json);
}

static json_t *sysctls_json(const struct environment *env)
{
	json_t *object = json_object();

	for (size_t i = 0; i < SYSCTLS; i++)
		if (env->sysctls[i] != SYSCTL_ABSENT)
			json_object_set_new(object, sysctl_names[i], json_integer(env->sysctls[i]));
	return object;
}

static void sysctls_from(struct environment *env, const json_t *sysctls)
{
	for (size_t i = 0; i < SYSCTLS; i++) {
		const json_t *value = json_object_get(sysctls, sysctl_names[i]);
		json_int_t n = json_integer_value(value);

		env->sysctls[i] = json_is_integer(value) && n > INT32_MIN && n <= INT32_MAX
					  ? (int)n
					  : SYSCTL_ABSENT;
	}
}

static json_t *pmus_json(const struct environment *env)
{
	json_t *object = json_object();

	for (size_t i = 0; i < env->pmu_count; i++)
		json_object_set_new(object, env->pmus[i].name, json_integer(env->pmus[i].type));
	return object;
}

static void pmus_from(struct environment *env, const json_t *pmus)
{
	const char *name;
	json_t *type;

	env->pmus = or_exit(calloc(json_object_size(pmus) + 1, sizeof(*env->pmus)));
	json_object_foreach((json_t *)pmus, name, type) {
		struct pmu *pmu = &env->pmus[env->pmu_count];

		if (strlen(name) >= sizeof(pmu->name) || !json_is_integer(type))
			continue;
		*pmu = (struct pmu){.type = (uint32_t)json_integer_value(type)};
		memcpy(pmu->name, name, strlen(name) + 1);
		env->pmu_count++;
	}
}

static json_t *number_or_null(int n)
{
	return n >= 0 ? json_integer(n) : NULL;
}

static json_t *text_or_null(const char *text)
{
	return text[0] ? json_string(text) : NULL;
}

/* Of each PMU what its files say, where they say anything. */
static json_t *write_pmu_files(const struct environment *env)
{
	json_t *object = json_object();

	for (size_t i = 0; i < env->pmu_count; i++) {
		const struct pmu *pmu = &env->pmus[i];
		json_t *files = json_pack(
			"{s:o*, s:o*, s:o*, s:o*}", "max_precise", number_or_null(pmu->max_precise),
			"branches", number_or_null(pmu->branches), "cpus", text_or_null(pmu->cpus),
			"cpumask", text_or_null(pmu->cpumask));

		if (json_object_size(files))
			json_object_set(object, pmu->name, files);
		json_decref(files);
	}
	return object;
}

static void read_pmu_files(struct environment *env, const json_t *json)
{
	for (size_t i = 0; i < env->pmu_count; i++) {
		struct pmu *pmu = &env->pmus[i];
		const char *cpus = "", *cpumask = "";

		pmu->max_precise = pmu->branches = -1;
		json_unpack((json_t *)json_object_get(json, pmu->name), "{s?i, s?i, s?s, s?s}",
			    "max_precise", &pmu->max_precise, "branches", &pmu->branches, "cpus",
			    &cpus, "cpumask", &cpumask);
		snprintf(pmu->cpus, sizeof(pmu->cpus), "%s", cpus);
		snprintf(pmu->cpumask, sizeof(pmu->cpumask), "%s", cpumask);
		cpu_list_settle(pmu->cpus, sizeof(pmu->cpus));
		cpu_list_settle(pmu->cpumask, sizeof(pmu->cpumask));
	}
}

static json_t *write_learned(const struct environment *env)
{
	return json_incref(env->learned);
}

static json_t *write_hardware_events(const struct environment *env)
{
	return json_boolean(env->hardware.counting == 0);
}

static const char recorded[] = "it is not recorded of this machine";
static const char sysctl[] = "the sysctl is not recorded of this machine";

#define OF(name, known) DATUM(struct environment, name, known)
#define TEXT(name) .of = OF(name, ALWAYS_KNOWN), .is_nullable = true

static const struct property properties[] = {
	{"kernel", TEXT(release)},
	{"version", TEXT(version)},
	{"upstream", TEXT(upstream)},
	{"machine", TEXT(machine)},
	{"arch", .write = write_arch},
	{"bits", .write = bits_json},
	{"kernel_bits", .of = OF(kernel_bits, UNKNOWN_IF_0),
	 .token = {"kernel_bits", REMEDY_KERNEL, "kernel_bits==64", "bits of the kernel's long",
		   "this is a kernel of %lld bits", NULL},
	 .variable = {"kernel.bits", "bits of the kernel's long"}},
	{"page_size", .of = OF(page_size, UNKNOWN_IF_0), .variable = {"page_size", "bytes"},
	 .fact = {"machine.page_size", "bytes", recorded, false}},
	{"cpus_possible", .of = OF(cpus_possible, UNKNOWN_IF_0),
	 .variable = {"cpus", "possible cpus"}},
	{"cpus_online", .of = OF(cpus_online, UNKNOWN_IF_0)},
	{"cpus_allowed", .of = OF(cpus_allowed, UNKNOWN_IF_0),
	 .token = {"cpus", REMEDY_MACHINE, "cpus>=2", "cpus that perfabi may run on",
		   "perfabi may run on %lld", "cpus_allowed() ~ @"}},
	{"cpu_limit", .of = OF(cpu_limit, UNKNOWN_IF_0)},
	{"online", TEXT(online)},
	{"memlock", .write = write_memlock, .read = read_memlock},
	{"nofile", .write = write_nofile, .of = OF(nofile, ALWAYS_KNOWN),
	 .token = {"nofile", REMEDY_SETTING, "nofile>=1024", "the hard RLIMIT_NOFILE",
		   "the hard RLIMIT_NOFILE is %lld", "hard_limit(RLIMIT_NOFILE) ~ @"}},
	{.of = OF(memlock, ALWAYS_KNOWN),
	 .token = {"memlock", REMEDY_SETTING, "memlock>=65536", "the hard RLIMIT_MEMLOCK, in bytes",
		   "the hard RLIMIT_MEMLOCK is %lld", "hard_limit(RLIMIT_MEMLOCK) ~ @"}},
	{"attr_size", .of = OF(attr_size, UNKNOWN_IF_0), .is_nullable = true,
	 .read = read_attr_size,
	 .token = {"attr_size", REMEDY_KERNEL, "attr_size>=136",
		   "the size of the kernel's struct, as it writes it back", "the kernel's is %lld",
		   "kernel_attr_size() ~ @"},
	 .variable = {"kernel.attr_size", "the running kernel's sizeof(struct perf_event_attr)"},
	 .fact = {"kernel.attr_size", "the kernel's sizeof(struct perf_event_attr)", recorded,
		  false}},
	{"refuses_all", .of = OF(filter_errno, ALWAYS_KNOWN), .write = write_refuses_all,
	 .read = read_refuses_all},
	{"uid", .of = OF(rights.uid, ALWAYS_KNOWN)},
	{"capabilities", .write = write_capabilities, .read = read_capabilities},
	{"init_user_namespace", .of = OF(rights.init_user_namespace, ALWAYS_KNOWN),
	 .read = read_namespace},
	{"identities", .write = write_identities, .read = read_identities},
	{"no_new_privs", .of = OF(no_new_privs, ALWAYS_KNOWN)},
	{"seccomp", .of = OF(seccomp, ALWAYS_KNOWN)},
	{"lockdown", TEXT(lockdown)},
	{"lsm", TEXT(lsm)},
	{"container", TEXT(container),
	 .fact = {"machine.is_container", "1: it is seen that this is a container", NULL, false}},
	{"hypervisor", TEXT(hypervisor),
	 .fact = {"machine.is_virtual", "1: a hypervisor is seen", NULL, false}},
	{"breakpoint_hits", .of = OF(breakpoint_hits, UNKNOWN_IF_NEGATIVE),
	 .token = {"breakpoint.hits", REMEDY_MACHINE, "breakpoint.hits==0",
		   "what a breakpoint counts of one store; 0 if it opens and never fires",
		   "a breakpoint counts %lld of one store", NULL}},
	{"breakpoint_bytes", .of = OF(breakpoint_bytes, UNKNOWN_IF_0),
	 .token = {"breakpoint.bytes", REMEDY_MACHINE, "breakpoint.bytes>=8",
		   "the most bytes that a write breakpoint opens with: 8, or 4",
		   "a breakpoint watches %lld bytes", "breakpoint_bytes() ~ @"},
	 .variable = {"breakpoint.bytes", "the most bytes that a write breakpoint opens with"}},
	{"sysctls", .write = sysctls_json, .read = sysctls_from},
	{.of = OF(sysctls[SYSCTL_PARANOID], UNKNOWN_IF_ABSENT),
	 .token = {"paranoid", REMEDY_SETTING, "paranoid>1", "the perf_event_paranoid sysctl",
		   "perf_event_paranoid is %lld",
		   "(int64_t)number_in(\"/proc/sys/kernel/perf_event_paranoid\") ~ @"},
	 .variable = {"sysctl.perf_event_paranoid", "as it is now"},
	 .fact = {"machine.paranoid", "perf_event_paranoid", sysctl, true}},
	{.of = OF(sysctls[SYSCTL_MAX_SAMPLE_RATE], UNKNOWN_IF_ABSENT),
	 .token = {"max_sample_rate", REMEDY_SETTING, "max_sample_rate>=1000",
		   "the perf_event_max_sample_rate sysctl", "perf_event_max_sample_rate is %lld",
		   "(int64_t)number_in(\"/proc/sys/kernel/perf_event_max_sample_rate\") ~ @"},
	 .variable = {"sysctl.perf_event_max_sample_rate", "the same"},
	 .fact = {"machine.max_sample_rate", "perf_event_max_sample_rate", sysctl, false}},
	{.of = OF(sysctls[SYSCTL_MAX_STACK], UNKNOWN_IF_ABSENT),
	 .variable = {"sysctl.perf_event_max_stack", "the same"},
	 .fact = {"machine.max_stack", "perf_event_max_stack", sysctl, false}},
	{.of = OF(sysctls[SYSCTL_MLOCK_KB], UNKNOWN_IF_ABSENT),
	 .token = {"mlock_kb", REMEDY_SETTING, "mlock_kb>=128", "the perf_event_mlock_kb sysctl",
		   "perf_event_mlock_kb is %lld",
		   "(int64_t)number_in(\"/proc/sys/kernel/perf_event_mlock_kb\") ~ @"},
	 .variable = {"sysctl.perf_event_mlock_kb", "the same"}},
	{"pmus", .write = pmus_json, .read = pmus_from},
	{"pmu_files", .write = write_pmu_files, .read = read_pmu_files},
	{"learned", .write = write_learned},
	{"hardware_events", .write = write_hardware_events}};
enum { PROPERTIES = sizeof(properties) / sizeof(properties[0]) };

const struct property *property_at(size_t i)
{
	return i < PROPERTIES ? &properties[i] : NULL;
}

/* A new reference; NULL: it is left out. */
static json_t *property_json(const struct property *p, const struct environment *env)
{
	uint64_t value;
	bool known = datum_get(env, &p->of, &value);

	if (p->write)
		return p->write(env);
	if (p->of.kind == TEXT_OF)
		return value ? json_string((const char *)env + p->of.at) : json_null();
	if (!known)
		return p->is_nullable ? json_null() : NULL;
	return p->of.kind == A_BOOL ? json_boolean(value) : json_integer((json_int_t)value);
}

json_t *environment_json(const struct environment *env)
{
	json_t *json = json_object();

	for (size_t i = 0; i < PROPERTIES; i++) {
		json_t *value = properties[i].key ? property_json(&properties[i], env) : NULL;

		if (value)
			json_object_set_new(json, properties[i].key, value);
	}
	return json;
}

static void datum_set(void *object, const struct datum *datum, uint64_t value)
{
	void *at = (char *)object + datum->at;

	switch (datum->kind) {
	case A_BOOL:
		*(bool *)at = value != 0;
		break;
	case AN_INT:
	case AN_UNSIGNED:
		*(unsigned *)at = (unsigned)value;
		break;
	case A_LONG:
	case AN_UNSIGNED_LONG:
		*(unsigned long *)at = (unsigned long)value;
		break;
	case A_LONG_LONG:
	case AN_UNSIGNED_LONG_LONG:
		*(unsigned long long *)at = value;
		break;
	case NO_MEMBER:
	case TEXT_OF:
		break;
	}
}

/* A number, or what says that it is not known where it is not told. */
static void read_datum(struct environment *env, const struct datum *of, const json_t *json)
{
	static const int64_t unknown[] = {[ALWAYS_KNOWN] = 0,
					  [UNKNOWN_IF_0] = 0,
					  [UNKNOWN_IF_NEGATIVE] = -1,
					  [UNKNOWN_IF_ABSENT] = SYSCTL_ABSENT};
	json_int_t n = json_integer_value(json);
	bool is_told = json_is_integer(json) && n >= 0 && n <= UINT32_MAX;

	if (of->kind == TEXT_OF)
		snprintf((char *)env + of->at, of->size, "%s",
			 json_is_string(json) ? json_string_value(json) : "");
	else
		datum_set(env, of, (uint64_t)(is_told ? n : unknown[of->known]));
}

int environment_from_json(struct environment *env, const struct abi *abi, const json_t *json,
			  const struct where *w, struct error *e)
{
	*env = (struct environment){.abi = abi, .tracefs = -1, .config_was_read = true};
	if (!json_string_value(json_object_get(json, "kernel")))
		return error_value(e, w, json, "an environment, as a report of perfabi has it");
	for (size_t i = 0; i < PROPERTIES; i++) {
		const struct property *p = &properties[i];
		const json_t *value = p->key ? json_object_get(json, p->key) : NULL;

		if (p->read)
			p->read(env, value);
		else if (p->key && !p->write)
			read_datum(env, &p->of, value);
	}
	cpu_list_settle(env->online, sizeof(env->online));
	if (!env->upstream[0])
		memcpy(env->upstream, env->release, sizeof(env->upstream));
	snprintf(env->config_why, sizeof(env->config_why), "a report does not tell it");
	env->arch = abi_arch(abi, env->machine);
	return 0;
}

bool datum_get(const void *object, const struct datum *datum, uint64_t *value)
{
	const void *at = (const char *)object + datum->at;
	int64_t n = 0;

	switch (datum->kind) {
	case NO_MEMBER:
		break;
	case A_BOOL:
		n = *(const bool *)at;
		break;
	case AN_INT:
		n = *(const int *)at;
		break;
	case AN_UNSIGNED:
		n = *(const unsigned *)at;
		break;
	case A_LONG:
		n = *(const long *)at;
		break;
	case AN_UNSIGNED_LONG:
		n = (int64_t) * (const unsigned long *)at;
		break;
	case A_LONG_LONG:
		n = *(const long long *)at;
		break;
	case AN_UNSIGNED_LONG_LONG:
		n = (int64_t) * (const unsigned long long *)at;
		break;
	case TEXT_OF:
		n = *(const char *)at != '\0';
		break;
	}
	*value = (uint64_t)n;
	switch (datum->known) {
	case UNKNOWN_IF_0:
		return n != 0;
	case UNKNOWN_IF_NEGATIVE:
		return n >= 0;
	case UNKNOWN_IF_ABSENT:
		return n != SYSCTL_ABSENT;
	default:
		return true;
	}
}
