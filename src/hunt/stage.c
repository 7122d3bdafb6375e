/* SPDX-License-Identifier: MIT */
/*
 * Setting the stage by the verbs of cases, and telling the model what stands on it.
 */
#include "hunt/stage.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "abi/attr.h"
#include "machine/small_file.h"
#include "step/compile.h"
#include "step/steps.h"

int stage_load(struct plan_of_stage *plan, const struct source *source, const struct tables *tables,
	       struct error *e)
{
	struct where root = where_root(source), at_given = where_key(&root, "given");
	struct scope scope = {.checking = true};
	struct compiling c = {.tables = tables,
			      .arch = tables->arch,
			      .names = {tables->abi, tables->vehicles, NULL},
			      .scope = &scope,
			      .arena = &plan->arena,
			      .error = e};
	int err;

	*plan = (struct plan_of_stage){.json = source_parse(source, e)};
	if (!plan->json)
		return -EINVAL;
	plan->calls = json_object_get(plan->json, "calls");
	err = block_compile(&c, &plan->block, json_object_get(plan->json, "given"), &at_given);
	scope_free(&scope);
	return err;
}

void stage_free_plan(struct plan_of_stage *plan)
{
	arena_free(&plan->arena);
	json_decref(plan->json);
}

void stage_look_up(const struct plan_of_stage *plan, struct environment *env)
{
	static const char prefix[] = "$tracepoint.";
	const char *name;
	json_t *json;

	json_object_foreach((json_t *)plan->calls, name, json) {
		const json_t *attr = json_object_get(json_object_get(json, "open"), "attr");
		const char *config = json_string_value(json_object_get(attr, "config"));

		if (config && !strncmp(config, prefix, strlen(prefix)))
			environment_tracepoint(env, config + strlen(prefix));
	}
}

static void add_thing(struct stage *stage, enum role role, const char *name, uint64_t value,
		      const json_t *json)
{
	if (stage->thing_count < STAGE_THINGS)
		stage->things[stage->thing_count++] =
			(struct thing){.name = name, .role = role, .value = value, .json = json};
}

const struct thing *stage_thing(const struct stage *stage, enum role role, uint64_t value)
{
	for (size_t i = 0; i < stage->thing_count; i++)
		if (stage->things[i].role == role && stage->things[i].value == value)
			return &stage->things[i];
	return NULL;
}

static struct world_event *event_of(struct stage *stage, int32_t fd)
{
	for (size_t i = 0; i < stage->world.event_count; i++)
		if (stage->events[i].fd == fd)
			return &stage->events[i];
	return NULL;
}

static uint64_t field_of_call(const struct environment *env, const struct call *call,
			      const char *name)
{
	return attr_get(abi_field(env->abi, name), call->image, host_order());
}

static const struct world_file *file_of(const struct stage *stage, int32_t fd)
{
	for (size_t i = 0; i < stage->world.file_count; i++)
		if (stage->files[i].fd == fd)
			return &stage->files[i];
	return NULL;
}

/* An event of the stage, as its call made it. */
static void note_event(struct stage *stage, const struct environment *env, const struct call *call,
		       int32_t fd)
{
	const struct abi_family *flags = abi_family(env->abi, "open_flags");
	bool of_cgroup = call->flags & abi_value(flags, "pid_cgroup", NULL)->value;
	struct world_event *leader = event_of(stage, call->group_fd);
	const struct world_file *file = of_cgroup ? file_of(stage, call->pid) : NULL;

	stage->events[stage->world.event_count++] =
		(struct world_event){.fd = fd,
				     .cpu = call->cpu,
				     .target = of_cgroup ? -1 : call->pid,
				     .clock = field_of_call(env, call, "use_clockid")
						      ? (int32_t)field_of_call(env, call, "clockid")
						      : -1,
				     .cgroup = file ? file->cgroup : 0,
				     .read_format = field_of_call(env, call, "read_format"),
				     .inherit = field_of_call(env, call, "inherit"),
				     .is_sibling = leader != NULL,
				     .write_backward = field_of_call(env, call, "write_backward")};
	if (leader)
		leader->siblings++;
}

static void note_task(struct stage *stage, int32_t id, const char *kind)
{
	bool exists = strcmp(kind, "gone") != 0;

	stage->tasks[stage->world.task_count++] =
		(struct world_task){.id = id,
				    .exists = exists,
				    .is_exiting = !strcmp(kind, "zombie"),
				    .may_be_read = exists,
				    .may_be_attached = exists};
}

/* It is ended and reaped; so are the events on it. */
static void note_killed(struct stage *stage, int32_t id)
{
	for (size_t i = 0; i < stage->world.task_count; i++)
		if (stage->tasks[i].id == id)
			stage->tasks[i].exists = false;
	for (size_t i = 0; i < stage->world.event_count; i++)
		if (stage->events[i].target == id)
			stage->events[i].has_exited = true;
}

/* Whether perf_event is a controller of the hierarchy that the file is in. */
static bool has_controller(const struct stat *st, bool is_v2)
{
	char text[4096], path[128];
	const char *at;
	int hierarchy = -1;
	struct stat v1;

	if (read_small("/proc/cgroups", text, sizeof(text)) <= 0)
		return is_v2;
	at = strstr(text, "\nperf_event\t");
	if (at)
		sscanf(at, "\nperf_event\t%d", &hierarchy);
	if (is_v2)
		return hierarchy == 0;
	return !environment_cgroup("v1.perf_event", path, sizeof(path)) && !stat(path, &v1) &&
	       v1.st_dev == st->st_dev;
}

static void note_file(struct stage *stage, int32_t fd)
{
	struct statfs fs;
	struct stat st;
	bool is_v2, is_v1;

	if (fstatfs(fd, &fs) || fstat(fd, &st))
		return;
	is_v2 = (unsigned long)fs.f_type == CGROUP2_SUPER_MAGIC;
	is_v1 = (unsigned long)fs.f_type == CGROUP_SUPER_MAGIC;
	stage->files[stage->world.file_count++] = (struct world_file){
		.fd = fd,
		.is_cgroup = (is_v1 || is_v2) && S_ISDIR(st.st_mode),
		.has_perf_event = (is_v1 || is_v2) && has_controller(&st, is_v2),
		.cgroup = (int64_t)(st.st_ino << 16 ^ st.st_dev)};
}

static uint64_t value_named(const struct steps *steps, const char *name)
{
	struct vars vars = scope_vars(&steps->scope);
	struct value value = {0};

	return name && !vars.lookup(vars.context, name, &value, NULL) ? value.bits : 0;
}

static void note_open(struct stage *stage, const struct environment *env, const json_t *open,
		      const char *name)
{
	struct where nowhere = {0};
	struct error e = {0};
	struct call call;

	if (call_from_json(&call, env->abi, env->arch, open, &stage->steps->scope, &nowhere, &e))
		return;
	note_event(stage, env, &call, (int32_t)value_named(stage->steps, name));
	call_free(&call);
}

/* What a step has made, for those who name it. */
static void note_step(struct stage *stage, const struct environment *env, const json_t *step)
{
	const char *name = json_string_value(json_object_get(step, "bind"));
	uint64_t value = value_named(stage->steps, name);
	const json_t *json;

	if ((json = json_object_get(step, "open"))) {
		add_thing(stage, AN_EVENT, name, value, step);
		note_open(stage, env, json, name);
	} else if ((json = json_object_get(step, "process"))) {
		add_thing(stage, A_TASK, name, value, step);
		note_task(stage, (int32_t)value, json_string_value(json));
	} else if ((json = json_object_get(step, "kill"))) {
		note_killed(stage, (int32_t)value_named(stage->steps, json_string_value(json)));
	} else if ((json = json_object_get(step, "mmap"))) {
		struct world_event *event = event_of(
			stage, (int32_t)value_named(stage->steps, json_string_value(json)));

		if (event)
			event->has_buffer = true;
	} else if (json_object_get(step, "cgroup") || json_object_get(step, "file")) {
		add_thing(stage, A_FILE, name, value, step);
		note_file(stage, (int32_t)value);
	} else if (json_object_get(step, "string")) {
		add_thing(stage, A_TEXT, name, value, step);
	} else if (json_object_get(step, "buffer")) {
		add_thing(stage, SOME_MEMORY, name, value, step);
	}
}

/* The calls of the file that name nothing which is not there. */
static void read_seeds(struct stage *stage, const struct environment *env)
{
	const char *name;
	json_t *json;

	json_object_foreach((json_t *)stage->plan->calls, name, json) {
		struct seed *seed = &stage->seeds[stage->seed_count];
		const json_t *rare = json_object_get(json, "rare");
		struct where nowhere = {0};
		struct error e = {0};

		if (stage->seed_count == STAGE_CALLS)
			return;
		*seed = (struct seed){.name = name,
				      .rare = rare ? (unsigned)json_integer_value(rare) : 1};
		if (!call_from_json(&seed->call, env->abi, env->arch, json_object_get(json, "open"),
				    &stage->steps->scope, &nowhere, &e))
			stage->seed_count++;
	}
}

int stage_set(struct stage *stage, const struct plan_of_stage *plan, const struct model *model,
	      const struct tables *tables, const struct who *who, pid_t foreign)
{
	struct environment *env = model->machine.env;

	*stage = (struct stage){.plan = plan, .steps = calloc(1, sizeof(*stage->steps))};
	if (!stage->steps || steps_begin(stage->steps, tables, who, env))
		return -ENOMEM;
	for (size_t i = 0; i < plan->block.count; i++) {
		const struct block one = {.list = &plan->block.list[i], .count = 1};
		struct verdict verdict = {0};

		if (one.list->is_on && steps_run(stage->steps, &one, &verdict))
			note_step(stage, env, one.list->json);
	}
	if (foreign) {
		add_thing(stage, A_TASK, "runner", (uint64_t)foreign, NULL);
		stage->tasks[stage->world.task_count++] =
			(struct world_task){.id = foreign,
					    .exists = true,
					    .may_be_read = who->as == AS_ROOT,
					    .may_be_attached = who->as == AS_ROOT};
	}
	stage->world.tasks = stage->tasks;
	stage->world.events = stage->events;
	stage->world.files = stage->files;
	stage->world.sees_memory = stage->world.sees_processes = true;
	read_seeds(stage, env);
	return stage->seed_count ? 0 : -ENOENT;
}
