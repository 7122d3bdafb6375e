/* SPDX-License-Identifier: MIT */
/*
 * Setting the stage by the verbs of cases, or imagining it.
 */
#include "stage/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stage/note.h"
#include "step/compile.h"
#include "step/steps.h"

/* Whether they are calls at all, whatever the names in them will stand for. */
static int check_calls(const struct plan_of_stage *plan, const struct tables *tables,
		       const struct scope *scope, const struct where *root, struct error *e)
{
	struct where at_calls = where_key(root, "calls");
	const char *name;
	json_t *json;

	json_object_foreach((json_t *)plan->calls, name, json) {
		struct where at = where_key(&at_calls, name), at_open = where_key(&at, "open");
		struct call call;

		if (call_from_json(&call, tables->abi, tables->arch, json_object_get(json, "open"),
				   scope, &at_open, e))
			return -EINVAL;
		call_free(&call);
	}
	return 0;
}

int stage_load_json(struct plan_of_stage *plan, json_t *json, const struct where *root,
		    const struct tables *tables, struct error *e)
{
	struct where at_given = where_key(root, "given");
	struct scope scope = {.checking = true};
	struct compiling c = {.tables = tables,
			      .arch = tables->arch,
			      .names = {tables->abi, tables->vehicles, NULL, false},
			      .scope = &scope,
			      .arena = &plan->arena,
			      .error = e};
	int err;

	*plan = (struct plan_of_stage){.json = json};
	plan->calls = json_object_get(plan->json, "calls");
	err = block_compile(&c, &plan->block, json_object_get(plan->json, "given"), &at_given);
	if (!err)
		err = check_calls(plan, tables, &scope, root, e);
	scope_free(&scope);
	return err;
}

int stage_load(struct plan_of_stage *plan, const struct source *source, const struct tables *tables,
	       struct error *e)
{
	struct where root = where_root(source);
	json_t *json = source_parse(source, e);

	*plan = (struct plan_of_stage){0};
	return json ? stage_load_json(plan, json, &root, tables, e) : -EINVAL;
}

void stage_free_plan(struct plan_of_stage *plan)
{
	arena_free(&plan->arena);
	json_decref(plan->json);
}

/* The tracepoint that an `open` names; NULL: none. */
static const char *tracepoint_of(const json_t *json)
{
	static const char prefix[] = "$tracepoint.";
	const json_t *attr = json_object_get(json_object_get(json, "open"), "attr");
	const char *config = json_string_value(json_object_get(attr, "config"));

	return config && !strncmp(config, prefix, strlen(prefix)) ? config + strlen(prefix) : NULL;
}

static void each_tracepoint(const struct plan_of_stage *plan,
			    void (*each)(void *context, const char *tracepoint), void *context)
{
	const json_t *given = json_object_get(plan->json, "given");
	const char *name;
	json_t *json;
	size_t i;

	json_array_foreach(given, i, json)
		if (tracepoint_of(json))
			each(context, tracepoint_of(json));
	json_object_foreach((json_t *)plan->calls, name, json)
		if (tracepoint_of(json))
			each(context, tracepoint_of(json));
}

static void look_up_tracepoint(void *env, const char *tracepoint)
{
	environment_tracepoint(env, tracepoint);
}

void stage_look_up(const struct plan_of_stage *plan, struct environment *env)
{
	each_tracepoint(plan, look_up_tracepoint, env);
}

const struct thing *stage_thing(const struct stage *stage, enum role role, uint64_t value)
{
	for (size_t i = 0; i < stage->thing_count; i++)
		if (stage->things[i].role == role && stage->things[i].value == value)
			return &stage->things[i];
	return NULL;
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
		*seed = (struct seed){.rare = rare ? (unsigned)json_integer_value(rare) : 1};
		if (!call_from_json(&seed->call, env->abi, env->arch, json_object_get(json, "open"),
				    stage->scope, &nowhere, &e))
			stage->seed_count++;
	}
}

/* What is on the stage, as the model is told. */
static void show_stage(struct stage *stage)
{
	stage->world.tasks = stage->tasks;
	stage->world.events = stage->events;
	stage->world.files = stage->files;
	stage->world.texts = stage->texts;
}

static void note_failure(struct stage *stage, size_t step, const struct verdict *v)
{
	if (stage->failed_step)
		return;
	stage->failed_step = step + 1;
	snprintf(stage->failure, sizeof(stage->failure), "expected %.200s, got %.200s", v->expected,
		 v->got);
}

int stage_set(struct stage *stage, const struct plan_of_stage *plan, const struct model *model,
	      const struct tables *tables, const struct who *who, pid_t foreign)
{
	struct environment *env = model->machine.env;

	*stage = (struct stage){
		.plan = plan, .model = model, .steps = calloc(1, sizeof(*stage->steps))};
	if (!stage->steps || steps_begin(stage->steps, tables, who, env))
		return -ENOMEM;
	stage->scope = &stage->steps->scope;
	for (size_t i = 0; i < plan->block.count; i++) {
		const struct block one = {.list = &plan->block.list[i], .count = 1};
		struct verdict verdict = {0};

		if (!one.list->is_on)
			continue;
		if (steps_run(stage->steps, &one, &verdict))
			stage_note(stage, env, one.list->json);
		else
			note_failure(stage, i, &verdict);
	}
	if (foreign && stage->world.task_count < STAGE_THINGS) {
		stage_add_thing(stage, A_TASK, "runner", (uint64_t)foreign);
		stage->tasks[stage->world.task_count++] =
			(struct world_task){.id = foreign,
					    .exists = true,
					    .may_be_read = who->as == AS_ROOT,
					    .may_be_attached = who->as == AS_ROOT};
	}
	show_stage(stage);
	stage->world.sees_memory = stage->world.sees_processes = true;
	read_seeds(stage, env);
	return stage->seed_count ? 0 : -ENOENT;
}

/* Numbers that no descriptor or process has, for names of what is not there. */
enum { FIRST_IMAGINED = 100000 };

struct imagining {
	struct model *model;
	uint32_t next;
	int err;
};

/* A tracepoint that another machine is asked about is one that it has. */
static int imagine_tracepoint(struct model *model, const char *tracepoint, uint32_t id)
{
	int err;

	if (environment_known_tracepoint(model->machine.env, tracepoint))
		return 0;
	err = machine_add_tracepoint(&model->machine, tracepoint, id);
	if (!err && !environment_add_tracepoint(model->machine.env, tracepoint, id, false))
		err = -ENOMEM;
	return err;
}

static void imagine_next_tracepoint(void *context, const char *tracepoint)
{
	struct imagining *i = context;

	if (!i->err)
		i->err = imagine_tracepoint(i->model, tracepoint, i->next++);
}

int stage_settle_tracepoint(struct model *model, const json_t *call)
{
	const char *tracepoint = tracepoint_of(call);

	if (!tracepoint)
		return 0;
	if (!model->machine.is_this)
		return imagine_tracepoint(model, tracepoint,
					  FIRST_IMAGINED +
						  (uint32_t)model->machine.env->tracepoint_count);
	environment_tracepoint(model->machine.env, tracepoint);
	return 0;
}

int stage_imagine(struct stage *stage, const struct plan_of_stage *plan, struct model *model)
{
	struct imagining i = {.model = model, .next = FIRST_IMAGINED};
	const json_t *given = json_object_get(plan->json, "given");
	json_t *step;
	size_t at;

	*stage = (struct stage){.plan = plan, .model = model, .scope = &stage->imagined};
	stage->imagined.env = model->machine.env;
	each_tracepoint(plan, imagine_next_tracepoint, &i);
	json_array_foreach(given, at, step) {
		const char *name = json_string_value(json_object_get(step, "bind"));

		if (name && !i.err)
			i.err = scope_bind(stage->scope, name, i.next++);
		if (!i.err)
			stage_note(stage, model->machine.env, step);
	}
	show_stage(stage);
	stage->world.sees_processes = model->machine.is_this;
	read_seeds(stage, model->machine.env);
	return i.err ? i.err : stage->seed_count ? 0 : -ENOENT;
}

void stage_forget(struct stage *stage)
{
	for (size_t i = 0; i < stage->seed_count; i++)
		call_free(&stage->seeds[i].call);
	stage->seed_count = 0;
	scope_free(&stage->imagined);
}
