/* SPDX-License-Identifier: MIT */
/*
 * A call made on a stage, as `open` of a case has it.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "abi/attr.h"
#include "stage/stage.h"

/* A number by the name that it has on the stage, "$child". */
static json_t *named(const struct stage *stage, enum role role, int64_t value)
{
	const struct thing *thing = stage_thing(stage, role, (uint64_t)value);

	return thing ? json_sprintf("$%s", thing->name) : NULL;
}

/* The same of one of several roles, and as a number where it has none. */
static json_t *number_or_name(const struct stage *stage, const enum role roles[2], int64_t value)
{
	json_t *name = named(stage, roles[0], value);

	name = name ? name : named(stage, roles[1], value);
	return name ? name : json_integer(value);
}

/* Addresses and types are another's on another machine. */
static void name_fields(const struct stage *stage, const struct environment *env,
			const struct call *call, json_t *attr)
{
	static const char *const addresses[] = {"config1", "bp_addr", "uprobe_path", "kprobe_func"};
	uint64_t address = attr_get(abi_field(env->abi, "config1"), call->image, host_order());
	uint64_t type = attr_get(abi_field(env->abi, "type"), call->image, host_order());
	json_t *name = named(stage, A_TEXT, (int64_t)address);

	name = name ? name : named(stage, SOME_MEMORY, (int64_t)address);
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]) && name; i++)
		if (json_object_get(attr, addresses[i]))
			json_object_set(attr, addresses[i], name);
	json_decref(name);
	for (size_t i = 0; i < env->pmu_count; i++)
		if (env->pmus[i].type == type && type >= PERF_TYPE_MAX)
			json_object_set_new(attr, "type",
					    json_sprintf("$pmu.%s", env->pmus[i].name));
}

json_t *stage_open_json(const struct stage *stage, const struct environment *env,
			const struct call *call)
{
	static const enum role pids[] = {A_TASK, A_FILE}, fds[] = {AN_EVENT, A_FILE};
	json_t *open = json_object(), *bytes = json_object();
	json_t *attr =
		attr_to_json(env->abi, env->arch, call->image, env->abi->attr_size, host_order());
	char offset[16];

	name_fields(stage, env, call, attr);
	json_object_set_new(open, "attr", attr);
	for (size_t i = 0; i < call->poke_count; i++) {
		snprintf(offset, sizeof(offset), "%llu", (unsigned long long)call->pokes[i].offset);
		json_object_set_new(bytes, offset, json_integer(call->pokes[i].byte));
	}
	if (call->poke_count)
		json_object_set(open, "bytes", bytes);
	json_decref(bytes);
	if (call->memory == MEMORY_NULL)
		json_object_set_new(open, "memory", json_string("null"));
	if (call->memory == MEMORY_READ_ONLY)
		json_object_set_new(open, "memory", json_string("read-only"));
	if (call->memory == MEMORY_CUT)
		json_object_set_new(open, "memory",
				    json_pack("{s:I}", "mapped", (json_int_t)call->mapped));
	json_object_set_new(open, "pid", number_or_name(stage, pids, call->pid));
	json_object_set_new(open, "cpu", json_integer(call->cpu));
	json_object_set_new(open, "group_fd", number_or_name(stage, fds, call->group_fd));
	if (call->flags)
		json_object_set_new(open, "flags", json_integer((json_int_t)call->flags));
	return open;
}
