/* SPDX-License-Identifier: MIT */
/*
 * Preparing the setup with the verbs of cases, or imagining it.
 */
#include "setup/setup.h"

#include <errno.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "abi/attr.h"
#include "machine/proc.h"
#include "step/step.h"
#include "text/json_text.h"

/*
 * What each step leaves behind, by its verb.
 */

/* The next place of a list of the setup; of a full one the place behind it, which nobody reads. */
static size_t next_place(size_t *count)
{
	return *count < SETUP_NAMES ? (*count)++ : SETUP_NAMES;
}

static struct object_event *event_of(struct setup *setup, int32_t fd)
{
	for (size_t i = 0; i < setup->objects.event_count; i++)
		if (setup->events[i].fd == fd)
			return &setup->events[i];
	return NULL;
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

static uint64_t value_named(const struct scope *scope, const char *name)
{
	struct vars vars = scope_vars(scope);
	struct value value = {0};

	return name && !vars.lookup(vars.context, name, &value, NULL) ? value.bits : 0;
}

/* What noting a step goes by. */
struct noted {
	const json_t *step, *json; /* the step, and what stands at its verb */
	const char *text;          /* the same, or NULL */
	uint64_t value;            /* that the name that it binds stands for */
	unsigned times;
};

/* An event of the setup, as its call made it. */
static void note_open(struct setup *setup, const struct noted *n)
{
	const struct machine *machine = &setup->model->machine;
	const struct environment *env = machine->env;
	struct object_event *leader, event = {.fd = (int32_t)n->value, .clock = -1};
	struct where nowhere = {0};
	struct error e = {0};
	const struct pmu *pmu;
	struct call call;
	bool of_cgroup;
	uint32_t type;

	if (call_from_json(&call, env->abi, env->arch, n->json, setup->scope, &nowhere, &e))
		return;
	event.cpu = call.cpu;
	of_cgroup = call.flags & machine->pid_cgroup;
	event.target = of_cgroup ? -1 : call.pid;
	if (call_field(&call, env->abi, "use_clockid"))
		event.clock = (int32_t)call_field(&call, env->abi, "clockid");
	for (size_t i = setup->objects.file_count; of_cgroup && i-- > 0;)
		if (setup->files[i].fd == call.pid)
			event.cgroup = setup->files[i].cgroup;
	event.read_format = call_field(&call, env->abi, "read_format");
	event.inherit = call_field(&call, env->abi, "inherit");
	/* No software counts it: the processor's PMU, or one that the model does not know. */
	type = (uint32_t)call_field(&call, env->abi, "type");
	pmu = environment_pmu_of_type(env, type);
	event.is_hardware = machine_is_hardware(machine, type) ||
			    (pmu && !kinds_find(machine->kinds, pmu->name));
	event.write_backward = call_field(&call, env->abi, "write_backward");
	if (type == PERF_TYPE_BREAKPOINT)
		setup->objects.breakpoints += n->times;
	leader = event_of(setup, call.group_fd);
	event.is_sibling = leader != NULL;
	if (leader)
		leader->siblings += n->times;
	setup->events[next_place(&setup->objects.event_count)] = event;
	call_free(&call);
}

static void note_process(struct setup *setup, const struct noted *n)
{
	bool exists = n->text && strcmp(n->text, "gone") != 0;

	setup->tasks[next_place(&setup->objects.task_count)] =
		(struct object_task){.id = (int32_t)n->value,
				     .exists = exists,
				     .is_exiting = n->text && !strcmp(n->text, "zombie"),
				     .may_be_read = exists,
				     .may_be_attached = exists};
}

/* It is ended and reaped; so are the events on it. */
static void note_kill(struct setup *setup, const struct noted *n)
{
	int32_t id = (int32_t)value_named(setup->scope, n->text);

	for (size_t i = 0; i < setup->objects.task_count; i++)
		if (setup->tasks[i].id == id)
			setup->tasks[i].exists = false;
	for (size_t i = 0; i < setup->objects.event_count; i++)
		if (setup->events[i].target == id)
			setup->events[i].has_exited = true;
}

static void note_mmap(struct setup *setup, const struct noted *n)
{
	struct object_event *event = event_of(setup, (int32_t)value_named(setup->scope, n->text));

	if (event)
		event->has_buffer = true;
}

/* Of a file that is only imagined, what its step says of it. */
static void note_descriptor(struct setup *setup, const struct noted *n)
{
	const char *cgroup = json_string_value(json_object_get(n->step, "cgroup"));
	bool is_folder = cgroup && !json_object_get(n->step, "entry"), is_v1, is_v2;
	struct object_file file = {.fd = (int32_t)n->value};
	struct statfs fs;
	struct stat st;

	if (setup->steps) {
		if (fstatfs(file.fd, &fs) || fstat(file.fd, &st))
			return;
		is_v2 = (unsigned long)fs.f_type == CGROUP2_SUPER_MAGIC;
		is_v1 = (unsigned long)fs.f_type == CGROUP_SUPER_MAGIC;
		file.is_cgroup = (is_v1 || is_v2) && S_ISDIR(st.st_mode);
		file.has_perf_event = (is_v1 || is_v2) && has_controller(&st, is_v2);
		file.cgroup = (int64_t)(st.st_ino << 16 ^ st.st_dev);
	} else {
		file.is_cgroup = is_folder;
		file.has_perf_event =
			is_folder && (!strcmp(cgroup, "v2") || !strcmp(cgroup, "v1.perf_event"));
		file.cgroup = (int64_t)n->value;
	}
	setup->files[next_place(&setup->objects.file_count)] = file;
}

/* A text that is only imagined is known without reading it. */
static void note_text(struct setup *setup, const struct noted *n)
{
	if (!setup->steps && n->text)
		setup->texts[next_place(&setup->objects.text_count)] = (struct object_text){
			.address = n->value, .length = json_string_length(n->json) * n->times};
}

static void note_limit(struct setup *setup, const struct noted *n)
{
	const json_t *to = json_object_get(n->step, "to");

	if (n->text && !strcmp(n->text, "nofile") && json_is_integer(to) && !json_integer_value(to))
		setup->no_files = true;
}

/* What steps leave behind, by verb. */
static const struct {
	const char *verb;
	bool makes; /* it makes what has this role: */
	enum role role;
	void (*note)(struct setup *setup, const struct noted *n); /* or NULL */
} notes[] = {{"open", true, AN_EVENT, note_open},       {"process", true, A_TASK, note_process},
	     {"kill", false, A_TASK, note_kill},        {"mmap", false, AN_EVENT, note_mmap},
	     {"cgroup", true, A_FILE, note_descriptor}, {"file", true, A_FILE, note_descriptor},
	     {"string", true, A_TEXT, note_text},       {"buffer", true, SOME_MEMORY, NULL},
	     {"limit", false, A_FILE, note_limit}};

/* Notes what a step has made or undone; the name that it binds stands for that already. */
static void setup_note(struct setup *setup, const json_t *step)
{
	const char *name = json_string_value(json_object_get(step, "bind"));
	const json_t *times = json_object_get(step, "times");
	struct noted n = {.step = step,
			  .value = value_named(setup->scope, name),
			  .times = times ? (unsigned)json_integer_value(times) : 1};
	size_t i = 0;

	while (i < sizeof(notes) / sizeof(notes[0]) && !json_object_get(step, notes[i].verb))
		i++;
	if (i == sizeof(notes) / sizeof(notes[0]))
		return;
	n.json = json_object_get(step, notes[i].verb);
	n.text = json_string_value(n.json);
	if (notes[i].makes)
		setup->names.list[next_place(&setup->names.count)] =
			(struct setup_name){.name = name, .role = notes[i].role, .value = n.value};
	if (notes[i].note)
		notes[i].note(setup, &n);
}

/* The tracepoint that an `open` names; NULL: none. */
static const char *tracepoint_of(const json_t *json)
{
	static const char prefix[] = "$tracepoint.";
	const json_t *attr = json_object_get(json_object_get(json, "open"), "attr");
	const char *config = json_string_value(json_object_get(attr, "config"));

	return config && !strncmp(config, prefix, strlen(prefix)) ? config + strlen(prefix) : NULL;
}

static void keep_tracepoint(struct setup_plan *plan, const json_t *json)
{
	plan->tracepoints[plan->tracepoint_count] = tracepoint_of(json);
	plan->tracepoint_count += plan->tracepoints[plan->tracepoint_count] != NULL;
}

/* Whether they are calls at all, whatever the names in them will stand for. */
static int check_calls(struct setup_plan *plan, const struct tables *tables,
		       const struct scope *scope, const struct where *root, struct error *e)
{
	const json_t *given = json_object_get(plan->json, "given");
	size_t most = json_array_size(given) + json_object_size(plan->calls), i;
	const char *name;
	json_t *json;

	plan->tracepoints =
		or_exit(arena_array(&plan->arena, most + 1, sizeof(*plan->tracepoints)));
	json_array_foreach(given, i, json)
		keep_tracepoint(plan, json);
	json_object_foreach((json_t *)plan->calls, name, json) {
		struct call call;

		if (call_from_json(&call, tables->abi, tables->arch, json_object_get(json, "open"),
				   scope, AT_KEY(AT_KEY(AT_KEY(root, "calls"), name), "open"), e))
			return -EINVAL;
		call_free(&call);
		keep_tracepoint(plan, json);
	}
	return 0;
}

int setup_load(struct setup_plan *plan, json_t *json, const struct where *root,
	       const struct tables *tables, struct error *e)
{
	struct scope scope = {.checking = true};
	struct compiling c = {.tables = tables,
			      .arch = tables->arch,
			      .names = {tables->abi, tables->vehicles, NULL, false},
			      .scope = &scope,
			      .arena = &plan->arena,
			      .error = e};
	int err;

	*plan = (struct setup_plan){.json = json};
	if (!json)
		return -EINVAL;
	plan->calls = json_object_get(plan->json, "calls");
	err = block_compile(&c, &plan->block, json_object_get(plan->json, "given"),
			    AT_KEY(root, "given"));
	if (!err)
		err = check_calls(plan, tables, &scope, root, e);
	scope_free(&scope);
	return err;
}

void setup_free_plan(struct setup_plan *plan)
{
	arena_free(&plan->arena);
	json_decref(plan->json);
}

void setup_look_up(const struct setup_plan *plan, struct environment *env)
{
	for (size_t i = 0; i < plan->tracepoint_count; i++)
		environment_tracepoint(env, plan->tracepoints[i]);
}

/* The calls of the file, but for those that name what is not there. */
static void read_seeds(struct setup *setup, const struct environment *env)
{
	const char *name;
	json_t *json;

	json_object_foreach((json_t *)setup->plan->calls, name, json) {
		struct seed *seed = &setup->seeds[setup->seed_count];
		const json_t *rare = json_object_get(json, "rare");
		struct where nowhere = {0};
		struct error e = {0};

		if (setup->seed_count == SETUP_CALLS)
			return;
		*seed = (struct seed){.rare = rare ? (unsigned)json_integer_value(rare) : 1};
		if (!call_from_json(&seed->call, env->abi, env->arch, json_object_get(json, "open"),
				    setup->scope, &nowhere, &e))
			setup->seed_count++;
	}
}

static void setup_begin(struct setup *setup, const struct setup_plan *plan,
			const struct model *model)
{
	*setup = (struct setup){.plan = plan,
				.model = model,
				.objects = {.tasks = setup->tasks,
					    .events = setup->events,
					    .files = setup->files,
					    .texts = setup->texts}};
}

int setup_prepare(struct setup *setup, const struct setup_plan *plan, const struct model *model,
		  const struct tables *tables, const struct who *who, pid_t foreign)
{
	struct environment *env = model->machine.env;

	setup_begin(setup, plan, model);
	setup->steps = or_exit(calloc(1, sizeof(*setup->steps)));
	if (steps_begin(setup->steps, tables, who, env))
		return -ENOMEM;
	setup->scope = &setup->steps->scope;
	for (size_t i = 0; i < plan->block.count; i++) {
		const struct block one = {.list = &plan->block.list[i], .count = 1};
		struct verdict verdict = {0};

		if (!one.list->is_on)
			continue;
		if (steps_run(setup->steps, &one, &verdict)) {
			setup_note(setup, one.list->json);
		} else if (!setup->failed_step) {
			setup->failed_step = i + 1;
			snprintf(setup->failure, sizeof(setup->failure),
				 "expected %.200s, got %.200s", verdict.expected, verdict.got);
		}
	}
	if (foreign) {
		setup->names.list[next_place(&setup->names.count)] = (struct setup_name){
			.name = "runner", .role = A_TASK, .value = (uint64_t)foreign};
		setup->tasks[next_place(&setup->objects.task_count)] =
			(struct object_task){.id = foreign,
					     .exists = true,
					     .may_be_read = who->as == AS_ROOT,
					     .may_be_attached = who->as == AS_ROOT};
	}
	setup->objects.sees_memory = setup->objects.sees_processes = true;
	read_seeds(setup, env);
	return setup->seed_count ? 0 : -ENOENT;
}

/* Numbers that no descriptor or process has, for names of what is not there. */
enum { FIRST_IMAGINED = 100000 };

/* A tracepoint that another machine is asked about is one that it has. */
static void imagine_tracepoint(struct model *model, const char *tracepoint, uint32_t id)
{
	if (environment_known_tracepoint(model->machine.env, tracepoint))
		return;
	machine_add_tracepoint(&model->machine, tracepoint, id);
	environment_add_tracepoint(model->machine.env, tracepoint, id, false);
}

void setup_settle_tracepoint(struct model *model, const json_t *call)
{
	const char *tracepoint = tracepoint_of(call);

	if (tracepoint && model->machine.is_this)
		environment_tracepoint(model->machine.env, tracepoint);
	else if (tracepoint)
		imagine_tracepoint(model, tracepoint,
				   FIRST_IMAGINED + (uint32_t)model->machine.env->tracepoint_count);
}

int setup_imagine(struct setup *setup, const struct setup_plan *plan, struct model *model)
{
	uint32_t next = FIRST_IMAGINED;
	int err = 0;
	const json_t *given = json_object_get(plan->json, "given");
	json_t *step;
	size_t at;

	setup_begin(setup, plan, model);
	setup->scope = &setup->imagined;
	setup->imagined.env = model->machine.env;
	for (at = 0; at < plan->tracepoint_count; at++)
		imagine_tracepoint(model, plan->tracepoints[at], next++);
	json_array_foreach(given, at, step) {
		const char *name = json_string_value(json_object_get(step, "bind"));

		if (name && !err)
			err = scope_bind(setup->scope, name, next++);
		if (!err)
			setup_note(setup, step);
	}
	setup->objects.sees_processes = model->machine.is_this;
	read_seeds(setup, model->machine.env);
	return err ? err : setup->seed_count ? 0 : -ENOENT;
}

void setup_forget(struct setup *setup)
{
	for (size_t i = 0; i < setup->seed_count; i++)
		call_free(&setup->seeds[i].call);
	setup->seed_count = 0;
	scope_free(&setup->imagined);
}

void judge_begin(struct judge *judge, const struct call *call)
{
	evaluation_begin(&judge->evaluation, &judge->model->machine, call, &judge->caller,
			 &judge->objects);
}

static void ignore_signal(int sig)
{
	(void)sig;
}

void setup_survive_signals(void)
{
	struct sigaction action = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};

	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGIO, &action, NULL);
}

/*
 * A call made on a setup, as `open` of a case has it.
 */

/* A number by the name that has one of these roles (a mask), "$child"; NULL: none. */
static json_t *named(const struct setup_names *names, unsigned roles, int64_t value)
{
	for (enum role role = A_TASK; role <= SOME_MEMORY; role++)
		for (size_t i = 0; i < names->count && roles >> role & 1; i++)
			if (names->list[i].role == role && names->list[i].value == (uint64_t)value)
				return json_sprintf("$%s", names->list[i].name);
	return NULL;
}

/* Addresses and types are another's on another machine. */
static void name_fields(const struct setup_names *names, const struct environment *env,
			const struct call *call, json_t *attr)
{
	static const char *const addresses[] = {"config1", "bp_addr", "uprobe_path", "kprobe_func"};
	uint64_t address = call_field(call, env->abi, "config1");
	uint32_t type = (uint32_t)call_field(call, env->abi, "type");
	const struct pmu *pmu = environment_pmu_of_type(env, type);
	json_t *name = named(names, 1U << A_TEXT | 1U << SOME_MEMORY, (int64_t)address);

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]) && name; i++)
		if (json_object_get(attr, addresses[i]))
			json_object_set(attr, addresses[i], name);
	json_decref(name);
	if (pmu && type >= PERF_TYPE_MAX)
		json_object_set_new(attr, "type", json_sprintf("$pmu.%s", pmu->name));
}

json_t *setup_open_json(const struct setup_names *names, const struct environment *env,
			const struct call *call)
{
	static const char *const memories[] = {
		[MEMORY_NULL] = "null", [MEMORY_READ_ONLY] = "read-only", [MEMORY_CUT] = NULL};
	json_t *attr =
		attr_to_json(env->abi, env->arch, call->image, env->abi->attr_size, host_order());
	json_t *bytes = call->poke_count ? json_object() : NULL, *memory = NULL;
	json_t *pid = named(names, 1U << A_TASK | 1U << A_FILE, call->pid);
	json_t *fd = named(names, 1U << AN_EVENT | 1U << A_FILE, call->group_fd);
	char offset[24];

	name_fields(names, env, call, attr);
	for (size_t i = 0; i < call->poke_count; i++) {
		snprintf(offset, sizeof(offset), "%llu", (unsigned long long)call->pokes[i].offset);
		json_object_set_new(bytes, offset, json_integer(call->pokes[i].byte));
	}
	if (call->memory == MEMORY_CUT)
		memory = json_pack("{s:I}", "mapped", (json_int_t)call->mapped);
	else if (memories[call->memory])
		memory = json_string(memories[call->memory]);
	return json_pack("{s:o, s:o*, s:o*, s:o, s:i, s:o, s:o*}", "attr", attr, "bytes", bytes,
			 "memory", memory, "pid", pid ? pid : json_integer(call->pid), "cpu",
			 call->cpu, "group_fd", fd ? fd : json_integer(call->group_fd), "flags",
			 call->flags ? json_integer((json_int_t)call->flags) : NULL);
}
