/* SPDX-License-Identifier: MIT */
/*
 * Loading the checks, and asking them one after the other.
 */
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/names.h"

static int add_facts(struct model *model)
{
	static const struct fact *const lists[] = {attr_facts,  call_facts,       caller_facts,
						   pmu_facts,   breakpoint_facts, path_facts,
						   group_facts, counted_facts,    machine_facts};
	int err = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !err; i++)
		err = facts_add_list(&model->facts, lists[i]);
	err = err ? err : facts_add_fields(&model->facts, model->abi, &model->arena);
	err = err ? err : facts_add_classes(&model->facts, &model->kinds, &model->arena);
	err = err ? err : facts_add_learned(&model->facts, &model->learned);
	for (size_t i = 0; i < model->facts.count; i++) {
		struct fact *fact = &model->facts.list[i];

		if (fact->family)
			fact->names = strcmp(fact->family, model->kinds.names.name)
					      ? abi_family(model->abi, fact->family)
					      : &model->kinds.names;
	}
	return err;
}

/* "EINVAL", "accepted", "unknown", or "$fact" for an errno that hangs on the call. */
static int load_result(struct check *check, const json_t *json, const struct model *model,
		       const struct where *w, struct error *e)
{
	const char *text = json_string_value(json);
	struct nearest near = nearest_to(text ? text : "");

	check->errno_fact = -1;
	if (!text)
		return error_value(e, w, json, "an errno");
	if (text[0] == '$') {
		near = nearest_to(text + 1);
		check->errno_fact = facts_find(&model->facts, text + 1, &near);
		return check->errno_fact < 0
			       ? error_name(e, w, text, near.best, "a fact, after the $")
			       : 0;
	}
	if (!strcmp(text, "unknown"))
		return 0;
	check->err = errno_by_name(text, &near);
	return check->err ? 0 : error_name(e, w, text, near.best, "an errno, unknown or accepted");
}

static int load_sentences(struct check *check, const json_t *json, struct model *model,
			  const struct where *w, struct error *e)
{
	static const char *const keys[] = {"because", "instead", "unsaid"};
	struct sentence *const sentences[] = {&check->because, &check->instead, &check->unsaid};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct where at = where_key(w, keys[i]);

		if (sentence_compile(sentences[i], json_object_get(json, keys[i]), &model->facts,
				     &model->arena, &at, e))
			return -EINVAL;
	}
	return check->because.count || check->unsaid.count
		       ? 0
		       : error_value(e, w, json, "`because`, or `unsaid`");
}

static int load_check(struct model *model, const char *id, const json_t *json, struct vocabulary *v,
		      const struct where *w, struct error *e)
{
	struct check *check = &model->checks[model->count];
	const char *gate = json_string_value(json_object_get(json, "gate"));
	struct nearest near = nearest_to(gate ? gate : "");
	struct where at_if = where_key(w, "if"), at_result = where_key(w, "result");
	struct where at_gate = where_key(w, "gate");

	check->id = id;
	check->json = json;
	check->gate = gate ? phase_by_name(model->phases, gate, &near) : -1;
	if (check->gate < 0)
		return error_name(e, &at_gate, gate ? gate : "nothing", near.best, "a gate");
	if (load_result(check, json_object_get(json, "result"), model, &at_result, e))
		return -EINVAL;
	if (load_sentences(check, json, model, w, e))
		return -EINVAL;
	check->when = predicate_compile(json_object_get(json, "if"), v, &at_if, e);
	model->count++;
	return check->when ? 0 : -EINVAL;
}

static int load_checks(struct model *model, const struct source *source, const json_t *checks,
		       struct environment *env, struct error *e)
{
	struct where root = where_root(source), at_checks = where_key(&root, "checks");
	struct vocabulary v = {.abi = model->abi,
			       .facts = &model->facts,
			       .terms = json_object_get(model->json, "terms"),
			       .env = env,
			       .arena = &model->arena};
	const char *id;
	json_t *json;

	model->checks = calloc(json_object_size(checks) + 1, sizeof(*model->checks));
	if (!model->checks)
		return error_no_memory(e, &at_checks, "memory for the checks");
	json_object_foreach((json_t *)checks, id, json) {
		struct where at = where_key(&at_checks, id);

		if (json_object_get(json, "if") && load_check(model, id, json, &v, &at, e))
			return -EINVAL;
	}
	return 0;
}

int model_load(struct model *model, const struct model_sources *from, const struct tables *tables,
	       struct environment *env, struct error *e)
{
	struct where root = where_root(from->model);

	*model = (struct model){.abi = tables->abi, .phases = &tables->phases};
	model->json = source_parse(from->model, e);
	if (!model->json || kinds_load(&model->kinds, model->json, &root, e) ||
	    learned_load(&model->learned, model->json, &root, e))
		return -EINVAL;
	if (add_facts(model))
		return error_no_memory(e, &root, "memory for the facts");
	return load_checks(model, from->checks, from->list, env, e);
}

void model_free(struct model *model)
{
	machine_free(&model->machine);
	free(model->checks);
	arena_free(&model->arena);
	json_decref(model->json);
	*model = (struct model){0};
}

static int errno_of(const struct model *model, const struct check *check, struct situation *s)
{
	uint64_t err;

	if (check->errno_fact < 0)
		return check->err;
	return fact_get(&model->facts, (size_t)check->errno_fact, s, &err) ? (int)err : 0;
}

/*
 * A check that is not known to hold decides nothing, if the first that does hold gives the same
 * errno: then the errno is known, and that one is named.
 */
struct prediction model_predict(const struct model *model, struct situation *s)
{
	struct prediction open = {.outcome = OPENS};

	for (size_t i = 0; i < model->count; i++) {
		const struct check *check = &model->checks[i];
		const struct fact *why = NULL;
		enum truth truth = predicate_holds(check->when, &model->facts, s, &why);
		int err;

		if (truth == DOES_NOT_HOLD)
			continue;
		err = errno_of(model, check, s);
		if (truth == HOLDS && err)
			return !open.check || open.err == err
				       ? (struct prediction){REFUSED, err, check, NULL}
				       : open;
		if (!open.check)
			open = (struct prediction){UNFORESEEN, err, check, why};
		else if (open.err != err)
			open.err = 0;
		if (!open.err)
			return open;
	}
	return open;
}
