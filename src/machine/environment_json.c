/* SPDX-License-Identifier: MIT */
/*
 * The environment as reports have it, and back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/cpus.h"
#include "machine/environment.h"
#include "machine/names.h"
#include "machine/sysctl.h"

static const char opens_nothing[] = "opens nothing: ", opens_events[] = "opens events";

static json_t *sysctls_json(const struct environment *env)
{
	json_t *object = json_object();

	for (size_t i = 0; sysctl_names[i]; i++) {
		int value = *environment_sysctl((struct environment *)env, i);

		if (value != SYSCTL_ABSENT)
			json_object_set_new(object, sysctl_names[i], json_integer(value));
	}
	return object;
}

static void set_text(json_t *object, const char *name, const char *text)
{
	json_object_set_new(object, name, text[0] ? json_string(text) : json_null());
}

static json_t *identities_json(const struct environment *env)
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

static void set_file(json_t *files, const char *file, json_t *said)
{
	if (said)
		json_object_set_new(files, file, said);
}

/* Of each PMU what its files say, where they say anything. */
static json_t *pmu_files_json(const struct environment *env)
{
	json_t *object = json_object();

	for (size_t i = 0; i < env->pmu_count; i++) {
		const struct pmu *pmu = &env->pmus[i];
		json_t *files = json_object();

		set_file(files, "max_precise",
			 pmu->max_precise >= 0 ? json_integer(pmu->max_precise) : NULL);
		set_file(files, "branches",
			 pmu->branches >= 0 ? json_integer(pmu->branches) : NULL);
		set_file(files, "cpus", pmu->cpus[0] ? json_string(pmu->cpus) : NULL);
		set_file(files, "cpumask", pmu->cpumask[0] ? json_string(pmu->cpumask) : NULL);
		if (json_object_size(files))
			json_object_set(object, pmu->name, files);
		json_decref(files);
	}
	return object;
}

static void set_limit(json_t *json, const char *key, rlim_t limit)
{
	json_object_set_new(json, key,
			    limit == RLIM_INFINITY ? json_string("unlimited")
						   : json_integer((json_int_t)limit));
}

json_t *environment_json(const struct environment *env)
{
	json_t *json = json_object(), *pmus = json_object();
	char caps[24];

	set_text(json, "kernel", env->release);
	set_text(json, "version", env->version);
	set_text(json, "upstream", env->upstream);
	set_text(json, "machine", env->machine);
	json_object_set_new(json, "arch", env->arch ? json_string(env->arch->name) : json_null());
	json_object_set_new(json, "bits", json_integer(sizeof(long) * 8));
	json_object_set_new(json, "kernel_bits", json_integer(env->kernel_bits));
	json_object_set_new(json, "page_size", json_integer(env->page_size));
	json_object_set_new(json, "cpus_possible", json_integer(env->cpus_possible));
	json_object_set_new(json, "cpus_online", json_integer(env->cpus_online));
	json_object_set_new(json, "cpus_allowed", json_integer(env->cpus_allowed));
	if (env->cpu_limit)
		json_object_set_new(json, "cpu_limit", json_integer(env->cpu_limit));
	set_text(json, "online", env->online);
	set_limit(json, "memlock", env->memlock_soft);
	set_limit(json, "nofile", env->nofile);
	json_object_set_new(json, "attr_size",
			    env->attr_size ? json_integer(env->attr_size) : json_null());
	if (env->filter_errno)
		set_text(json, "refuses_all", errno_name(env->filter_errno));
	json_object_set_new(json, "uid", json_integer(env->rights.uid));
	snprintf(caps, sizeof(caps), "0x%llx", (unsigned long long)env->rights.capabilities);
	set_text(json, "capabilities", caps);
	json_object_set_new(json, "init_user_namespace",
			    json_boolean(env->rights.init_user_namespace));
	json_object_set_new(json, "identities", identities_json(env));
	json_object_set_new(json, "no_new_privs", json_boolean(env->no_new_privs));
	json_object_set_new(json, "seccomp", json_integer(env->seccomp));
	set_text(json, "lockdown", env->lockdown);
	set_text(json, "lsm", env->lsm);
	set_text(json, "container", env->container);
	set_text(json, "hypervisor", env->hypervisor);
	if (env->breakpoint_hits >= 0)
		json_object_set_new(json, "breakpoint_hits", json_integer(env->breakpoint_hits));
	json_object_set_new(json, "sysctls", sysctls_json(env));
	for (size_t i = 0; i < env->pmu_count; i++)
		json_object_set_new(pmus, env->pmus[i].name, json_integer(env->pmus[i].type));
	json_object_set_new(json, "pmus", pmus);
	json_object_set_new(json, "pmu_files", pmu_files_json(env));
	if (env->learned)
		json_object_set(json, "learned", env->learned);
	json_object_set_new(json, "hardware_events", json_boolean(env->hardware.counting == 0));
	return json;
}

static void take_text(char *out, size_t size, const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	snprintf(out, size, "%s", text ? text : "");
}

static unsigned take_count(const json_t *json, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(json, key));

	return n > 0 && n <= UINT32_MAX ? (unsigned)n : 0;
}

static uint64_t take_memlock(const json_t *json)
{
	const json_t *limit = json_object_get(json, "memlock");

	return json_is_string(limit) ? RLIM_INFINITY : (uint64_t)json_integer_value(limit);
}

static void take_sysctls(struct environment *env, const json_t *sysctls)
{
	for (size_t i = 0; sysctl_names[i]; i++) {
		const json_t *value = json_object_get(sysctls, sysctl_names[i]);

		json_int_t n = json_integer_value(value);

		*environment_sysctl(env, i) =
			json_is_integer(value) && n > INT32_MIN && n <= INT32_MAX ? (int)n
										  : SYSCTL_ABSENT;
	}
}

static void take_pmu_files(struct pmu *pmu, const json_t *files)
{
	const json_t *precise = json_object_get(files, "max_precise");
	const json_t *branches = json_object_get(files, "branches");

	pmu->max_precise = json_is_integer(precise) ? (int)json_integer_value(precise) : -1;
	pmu->branches = json_is_integer(branches) ? (int)json_integer_value(branches) : -1;
	take_text(pmu->cpus, sizeof(pmu->cpus), files, "cpus");
	take_text(pmu->cpumask, sizeof(pmu->cpumask), files, "cpumask");
	cpu_list_settle(pmu->cpus, sizeof(pmu->cpus));
	cpu_list_settle(pmu->cpumask, sizeof(pmu->cpumask));
}

static int take_pmus(struct environment *env, const json_t *pmus, const json_t *files)
{
	const char *name;
	json_t *type;

	env->pmus = calloc(json_object_size(pmus) + 1, sizeof(*env->pmus));
	if (!env->pmus)
		return -ENOMEM;
	json_object_foreach((json_t *)pmus, name, type) {
		struct pmu *pmu = &env->pmus[env->pmu_count];

		if (strlen(name) >= sizeof(pmu->name) || !json_is_integer(type))
			continue;
		memcpy(pmu->name, name, strlen(name) + 1);
		pmu->type = (uint32_t)json_integer_value(type);
		take_pmu_files(pmu, json_object_get(files, name));
		env->pmu_count++;
	}
	return 0;
}

bool environment_opens(const json_t *identities, enum identity as)
{
	const char *text = json_string_value(json_object_get(identities, identity_names[as]));

	return text && !strcmp(text, opens_events);
}

/* What a plain event gave to each identity. */
static void take_identities(struct environment *env, const json_t *identities)
{
	for (enum identity as = 0; as < IDENTITIES; as++) {
		const char *text =
			json_string_value(json_object_get(identities, identity_names[as]));

		env->control[as] = -1;
		if (environment_opens(identities, as))
			env->control[as] = 0;
		else if (text && !strncmp(text, opens_nothing, strlen(opens_nothing)))
			env->control[as] = errno_by_name(text + strlen(opens_nothing), NULL);
	}
}

/* Reports have had it only as why nobody could become root there. */
static bool tells_of_namespace(const json_t *json)
{
	const json_t *told = json_object_get(json, "init_user_namespace");
	const char *root = json_string_value(
		json_object_get(json_object_get(json, "identities"), identity_names[AS_ROOT]));

	return told ? json_is_false(told) : root && strstr(root, "user namespace");
}

/* A caller there has what an identity is defined to have; root, all that a machine gives. */
static void take_rights(struct environment *env, const json_t *json)
{
	const char *capabilities = json_string_value(json_object_get(json, "capabilities"));
	const json_t *uid = json_object_get(json, "uid");

	env->rights.uid = (uid_t)json_integer_value(uid);
	env->rights.capabilities = json_is_integer(uid) && !env->rights.uid && capabilities
					   ? strtoull(capabilities, NULL, 16)
					   : (UINT64_C(1) << (CAP_LAST_CAP + 1)) - 1;
	env->rights.init_user_namespace = !tells_of_namespace(json);
}

int environment_from_json(struct environment *env, const struct abi *abi, const json_t *json,
			  const struct where *w, struct error *e)
{
	const json_t *hits = json_object_get(json, "breakpoint_hits");
	const char *refuses;

	*env = (struct environment){.abi = abi, .tracefs = -1, .config_was_read = true};
	env->breakpoint_hits = json_is_integer(hits) ? (int)json_integer_value(hits) : -1;
	if (!json_string_value(json_object_get(json, "kernel")))
		return error_value(e, w, json, "an environment, as a report of perfabi has it");
	take_text(env->release, sizeof(env->release), json, "kernel");
	take_text(env->version, sizeof(env->version), json, "version");
	take_text(env->upstream, sizeof(env->upstream), json, "upstream");
	take_text(env->machine, sizeof(env->machine), json, "machine");
	take_text(env->lockdown, sizeof(env->lockdown), json, "lockdown");
	take_text(env->lsm, sizeof(env->lsm), json, "lsm");
	take_text(env->container, sizeof(env->container), json, "container");
	take_text(env->hypervisor, sizeof(env->hypervisor), json, "hypervisor");
	take_text(env->online, sizeof(env->online), json, "online");
	cpu_list_settle(env->online, sizeof(env->online));
	if (!env->upstream[0])
		take_text(env->upstream, sizeof(env->upstream), json, "kernel");
	snprintf(env->config_why, sizeof(env->config_why), "a report does not tell it");
	env->arch = abi_arch(abi, env->machine);
	env->kernel_bits = take_count(json, "kernel_bits");
	env->page_size = take_count(json, "page_size");
	env->cpus_possible = take_count(json, "cpus_possible");
	env->cpus_online = take_count(json, "cpus_online");
	env->cpus_allowed = take_count(json, "cpus_allowed");
	env->cpu_limit = take_count(json, "cpu_limit");
	env->memlock_soft = take_memlock(json);
	env->attr_size = take_count(json, "attr_size");
	refuses = json_string_value(json_object_get(json, "refuses_all"));
	env->filter_errno = refuses ? errno_by_name(refuses, NULL) : 0;
	env->attr_size_errno = refuses ? env->filter_errno : env->attr_size ? E2BIG : 0;
	take_sysctls(env, json_object_get(json, "sysctls"));
	take_identities(env, json_object_get(json, "identities"));
	take_rights(env, json);
	return take_pmus(env, json_object_get(json, "pmus"), json_object_get(json, "pmu_files"))
		       ? error_no_memory(e, w, "memory for the PMUs")
		       : 0;
}
