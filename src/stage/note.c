/* SPDX-License-Identifier: MIT */
/*
 * What each step leaves behind, by its verb.
 */
#include "stage/note.h"

#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "machine/small_file.h"

void stage_add_thing(struct stage *stage, enum role role, const char *name, uint64_t value)
{
	if (stage->thing_count < STAGE_THINGS)
		stage->things[stage->thing_count++] =
			(struct thing){.name = name, .role = role, .value = value};
}

static struct world_event *event_of(struct stage *stage, int32_t fd)
{
	for (size_t i = 0; i < stage->world.event_count; i++)
		if (stage->events[i].fd == fd)
			return &stage->events[i];
	return NULL;
}

static const struct world_file *file_of(const struct stage *stage, int32_t fd)
{
	for (size_t i = 0; i < stage->world.file_count; i++)
		if (stage->files[i].fd == fd)
			return &stage->files[i];
	return NULL;
}

/* Whether what counts it is no software: the processor's PMU, or one that the model does not know.
 */
static bool is_of_hardware(const struct model *model, uint64_t type)
{
	const struct machine *machine = &model->machine;

	if (type < 64 && machine->hardware_types >> type & 1)
		return true;
	for (size_t i = 0; i < machine->env->pmu_count; i++)
		if (machine->env->pmus[i].type == type)
			return !kinds_find(machine->kinds, machine->env->pmus[i].name);
	return false;
}

/* An event of the stage, as its call made it; `times`: so many of them. */
static void note_event(struct stage *stage, const struct environment *env, const struct call *call,
		       int32_t fd, unsigned times)
{
	const struct abi_family *flags = abi_family(env->abi, "open_flags");
	const struct abi_value *breakpoint =
		abi_value(abi_family(env->abi, "type"), "breakpoint", NULL);
	bool of_cgroup = call->flags & abi_value(flags, "pid_cgroup", NULL)->value;
	struct world_event *leader = event_of(stage, call->group_fd);
	const struct world_file *file = of_cgroup ? file_of(stage, call->pid) : NULL;

	if (call_field(call, env->abi, "type") == breakpoint->value)
		stage->world.breakpoints += times;
	if (leader)
		leader->siblings += times;
	if (stage->world.event_count == STAGE_THINGS)
		return;
	stage->events[stage->world.event_count++] = (struct world_event){
		.fd = fd,
		.cpu = call->cpu,
		.target = of_cgroup ? -1 : call->pid,
		.clock = call_field(call, env->abi, "use_clockid")
				 ? (int32_t)call_field(call, env->abi, "clockid")
				 : -1,
		.cgroup = file ? file->cgroup : 0,
		.read_format = call_field(call, env->abi, "read_format"),
		.inherit = call_field(call, env->abi, "inherit"),
		.is_sibling = leader != NULL,
		.is_hardware = is_of_hardware(stage->model, call_field(call, env->abi, "type")),
		.write_backward = call_field(call, env->abi, "write_backward")};
}

static void note_task(struct stage *stage, int32_t id, const char *kind)
{
	bool exists = strcmp(kind, "gone") != 0;

	if (stage->world.task_count == STAGE_THINGS)
		return;
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

	if (stage->world.file_count == STAGE_THINGS || fstatfs(fd, &fs) || fstat(fd, &st))
		return;
	is_v2 = (unsigned long)fs.f_type == CGROUP2_SUPER_MAGIC;
	is_v1 = (unsigned long)fs.f_type == CGROUP_SUPER_MAGIC;
	stage->files[stage->world.file_count++] = (struct world_file){
		.fd = fd,
		.is_cgroup = (is_v1 || is_v2) && S_ISDIR(st.st_mode),
		.has_perf_event = (is_v1 || is_v2) && has_controller(&st, is_v2),
		.cgroup = (int64_t)(st.st_ino << 16 ^ st.st_dev)};
}

static uint64_t value_named(const struct scope *scope, const char *name)
{
	struct vars vars = scope_vars(scope);
	struct value value = {0};

	return name && !vars.lookup(vars.context, name, &value, NULL) ? value.bits : 0;
}

/* What noting a step goes by. */
struct noted {
	const struct environment *env;
	const json_t *step, *json; /* the step, and what stands at its verb */
	const char *name;          /* that it binds, or NULL */
	uint64_t value;            /* that the name stands for */
};

static void note_open(struct stage *stage, const struct noted *n)
{
	const json_t *times = json_object_get(n->step, "times");
	struct where nowhere = {0};
	struct error e = {0};
	struct call call;

	if (call_from_json(&call, n->env->abi, n->env->arch, n->json, stage->scope, &nowhere, &e))
		return;
	note_event(stage, n->env, &call, (int32_t)n->value,
		   times ? (unsigned)json_integer_value(times) : 1);
	call_free(&call);
}

static void note_process(struct stage *stage, const struct noted *n)
{
	const char *kind = json_string_value(n->json);

	note_task(stage, (int32_t)n->value, kind ? kind : "");
}

static void note_kill(struct stage *stage, const struct noted *n)
{
	note_killed(stage, (int32_t)value_named(stage->scope, json_string_value(n->json)));
}

static void note_mmap(struct stage *stage, const struct noted *n)
{
	struct world_event *event =
		event_of(stage, (int32_t)value_named(stage->scope, json_string_value(n->json)));

	if (event)
		event->has_buffer = true;
}

/* Of a file that is only imagined, what its step says of it. */
static void imagine_file(struct stage *stage, const struct noted *n)
{
	const char *cgroup = json_string_value(json_object_get(n->step, "cgroup"));
	bool is_folder = cgroup && !json_object_get(n->step, "entry");

	if (stage->world.file_count == STAGE_THINGS)
		return;
	stage->files[stage->world.file_count++] = (struct world_file){
		.fd = (int32_t)n->value,
		.is_cgroup = is_folder,
		.has_perf_event =
			is_folder && (!strcmp(cgroup, "v2") || !strcmp(cgroup, "v1.perf_event")),
		.cgroup = (int64_t)n->value};
}

static void note_descriptor(struct stage *stage, const struct noted *n)
{
	if (stage->steps)
		note_file(stage, (int32_t)n->value);
	else
		imagine_file(stage, n);
}

/* A text that is only imagined is known without reading it. */
static void note_text(struct stage *stage, const struct noted *n)
{
	const json_t *times = json_object_get(n->step, "times");

	if (stage->steps || stage->world.text_count == STAGE_THINGS || !json_is_string(n->json))
		return;
	stage->texts[stage->world.text_count++] =
		(struct world_text){.address = n->value,
				    .length = json_string_length(n->json) *
					      (times ? (uint64_t)json_integer_value(times) : 1)};
}

static void note_limit(struct stage *stage, const struct noted *n)
{
	const char *limit = json_string_value(n->json);
	const json_t *to = json_object_get(n->step, "to");

	if (limit && !strcmp(limit, "nofile") && json_is_integer(to) && !json_integer_value(to))
		stage->no_files = true;
}

static void note_nothing(struct stage *stage, const struct noted *n)
{
	(void)stage;
	(void)n;
}

/* What steps leave behind, by verb. */
static const struct {
	const char *verb;
	bool makes; /* it makes a thing, of this role: */
	enum role role;
	void (*note)(struct stage *stage, const struct noted *n);
} notes[] = {{"open", true, AN_EVENT, note_open},       {"process", true, A_TASK, note_process},
	     {"kill", false, A_TASK, note_kill},        {"mmap", false, AN_EVENT, note_mmap},
	     {"cgroup", true, A_FILE, note_descriptor}, {"file", true, A_FILE, note_descriptor},
	     {"string", true, A_TEXT, note_text},       {"buffer", true, SOME_MEMORY, note_nothing},
	     {"limit", false, A_FILE, note_limit}};

/* What a step has made, for those who name it. */
void stage_note(struct stage *stage, const struct environment *env, const json_t *step)
{
	struct noted n = {
		.env = env, .step = step, .name = json_string_value(json_object_get(step, "bind"))};

	n.value = value_named(stage->scope, n.name);
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		n.json = json_object_get(step, notes[i].verb);
		if (!n.json)
			continue;
		if (notes[i].makes)
			stage_add_thing(stage, notes[i].role, n.name, n.value);
		notes[i].note(stage, &n);
		return;
	}
}
