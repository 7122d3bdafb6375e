/* SPDX-License-Identifier: MIT */
/*
 * Loading the checks, and asking them one after the other.
 */
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/names.h"
#include "model/wording.h"

static int add_facts(struct model *model)
{
	static const struct fact *const lists[] = {attr_facts,    call_facts,       caller_facts,
						   pmu_facts,     breakpoint_facts, path_facts,
						   group_facts,   unknown_facts,    counted_facts,
						   machine_facts, then_facts};
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

/* Where a check is, and what its sentences and predicates are made of. */
struct reading {
	struct model *model;
	struct vocabulary *v;
	const struct where *at;
	struct error *e;
};

static int load_sentence(struct sentence *out, const json_t *json, const char *key,
			 const struct where *w, const struct reading *r)
{
	struct where at = where_key(w, key);

	return sentence_compile(out, json_object_get(json, key), &r->model->facts, r->v->arena, &at,
				r->e);
}

/* NULL too where there is none under that key: error_is_set() tells. */
static struct predicate *load_predicate(const json_t *json, const char *key, const struct where *w,
					const struct reading *r)
{
	struct where at = where_key(w, key);
	const json_t *predicate = json_object_get(json, key);

	return predicate ? predicate_compile(predicate, r->v, &at, r->e) : NULL;
}

static int load_saying(struct saying *saying, const json_t *json, const struct where *w,
		       const struct reading *r)
{
	if (load_sentence(&saying->because, json, "because", w, r) ||
	    load_sentence(&saying->instead, json, "instead", w, r))
		return -EINVAL;
	return saying->because.count ? 0 : error_value(r->e, w, json, "`because`");
}

/* A list, each but the last with the condition on which it is said. */
static int load_list_of_sayings(struct check *check, const json_t *list, const struct reading *r)
{
	struct where at_list = where_key(r->at, "says");
	json_t *json;
	size_t i;

	if (!json_array_size(list))
		return error_value(r->e, &at_list, list, "a list of what it says");
	json_array_foreach(list, i, json) {
		struct where at = where_index(&at_list, i);
		struct saying *saying = &check->says[check->saying_count++];

		saying->when = load_predicate(json, "if", &at, r);
		if (error_is_set(r->e) || load_saying(saying, json, &at, r))
			return -EINVAL;
	}
	return 0;
}

static int load_sayings(struct check *check, const json_t *json, const struct reading *r)
{
	const json_t *list = json_object_get(json, "says");
	size_t room = json_array_size(list) + 1;

	check->says = arena_alloc(r->v->arena, room * sizeof(*check->says));
	if (!check->says)
		return error_no_memory(r->e, r->at, "memory for a check");
	if (load_sentence(&check->unsaid, json, "unsaid", r->at, r))
		return -EINVAL;
	if (list)
		return load_list_of_sayings(check, list, r);
	if (!json_object_get(json, "because") && check->unsaid.count)
		return 0;
	if (!json_object_get(json, "because"))
		return error_value(r->e, r->at, json, "`because`, `says` or `unsaid`");
	check->saying_count = 1;
	return load_saying(&check->says[0], json, r->at, r);
}

/* Letters of the checks of mmap(2), ioctl(2), read(2) and poll(2), which have no gates. */
static const char after_open[] = "MIRL";

static int load_gate(struct check *check, const json_t *json, const struct reading *r)
{
	const char *gate = json_string_value(json_object_get(json, "gate"));
	struct nearest near = nearest_to(gate ? gate : "");
	struct where at = where_key(r->at, "gate");

	check->gate = gate ? phase_by_name(r->model->phases, gate, &near) : -1;
	if (!gate && strchr(after_open, check->id[0]))
		return 0;
	return check->gate < 0 ? error_name(r->e, &at, gate ? gate : "nothing", near.best, "a gate")
			       : 0;
}

static int load_check(struct check *check, const char *id, const json_t *json,
		      const struct reading *r)
{
	struct where at_result = where_key(r->at, "result");

	*check = (struct check){.id = id, .json = json};
	if (load_gate(check, json, r) ||
	    load_result(check, json_object_get(json, "result"), r->model, &at_result, r->e) ||
	    load_sayings(check, json, r))
		return -EINVAL;
	check->when = load_predicate(json, "if", r->at, r);
	check->may = load_predicate(json, "may", r->at, r);
	return error_is_set(r->e) ? -EINVAL : 0;
}

/* Into the list of those that decide, of those that are suspects, or both. */
static int add_check(struct model *model, const char *id, const json_t *json,
		     const struct reading *r)
{
	struct check check;

	if (!json_object_get(json, "if") && !json_object_get(json, "may"))
		return 0;
	if (load_check(&check, id, json, r))
		return -EINVAL;
	if (check.when && check.gate >= 0)
		model->checks[model->count++] = check;
	check.may = check.may ? check.may : check.when;
	if (check.may && check.saying_count)
		model->suspects[model->suspect_count++] = check;
	return 0;
}

static int load_checks(struct model *model, const struct source *source, const json_t *checks,
		       struct vocabulary *v, struct error *e)
{
	struct where root = where_root(source), at_checks = where_key(&root, "checks");
	const char *id;
	json_t *json;

	model->checks = calloc(json_object_size(checks) + 1, sizeof(*model->checks));
	model->suspects = calloc(json_object_size(checks) + 1, sizeof(*model->suspects));
	if (!model->checks || !model->suspects)
		return error_no_memory(e, &at_checks, "memory for the checks");
	json_object_foreach((json_t *)checks, id, json) {
		struct where at = where_key(&at_checks, id);
		const struct reading r = {.model = model, .v = v, .at = &at, .e = e};

		if (add_check(model, id, json, &r))
			return -EINVAL;
	}
	return 0;
}

int model_load(struct model *model, const struct model_sources *from, const struct tables *tables,
	       struct environment *env, struct error *e)
{
	struct where root = where_root(from->model), at_words = where_key(&root, "words");
	struct vocabulary v = {
		.abi = tables->abi, .facts = &model->facts, .env = env, .arena = &model->arena};

	*model = (struct model){.abi = tables->abi, .phases = &tables->phases};
	model->json = source_parse(from->model, e);
	if (!model->json || kinds_load(&model->kinds, model->json, &root, e) ||
	    learned_load(&model->learned, model->json, &root, e))
		return -EINVAL;
	if (add_facts(model))
		return error_no_memory(e, &root, "memory for the facts");
	v.terms = json_object_get(model->json, "terms");
	if (facts_add_words(&model->facts, json_object_get(model->json, "words"), &v, &at_words, e))
		return -EINVAL;
	return load_checks(model, from->checks, from->list, &v, e);
}

void model_free(struct model *model)
{
	machine_free(&model->machine);
	free(model->checks);
	free(model->suspects);
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
 * errno: then the errno is known, and that one is named, though the one before may refuse it.
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
				       ? (struct prediction){REFUSED, err, check, open.unknown}
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

const struct check *model_check_behind(const struct model *model, struct situation *s,
				       const struct check *first)
{
	for (const struct check *check = first + 1; check < model->checks + model->count; check++) {
		const struct fact *why;

		if (errno_of(model, check, s) &&
		    predicate_holds(check->when, &model->facts, s, &why) == HOLDS)
			return check;
	}
	return NULL;
}

const struct saying *check_saying(const struct model *model, const struct check *check,
				  struct situation *s)
{
	for (size_t i = 0; i < check->saying_count; i++) {
		const struct saying *saying = &check->says[i];
		const struct fact *why;

		if (!saying->when || predicate_holds(saying->when, &model->facts, s, &why) == HOLDS)
			return saying;
	}
	return check->saying_count ? &check->says[check->saying_count - 1] : NULL;
}

/* Of those whose errno is not foretold, `errnos` lists what it can be. */
static bool can_give(const struct model *model, const struct check *check, struct situation *s,
		     int err)
{
	const json_t *list = json_object_get(check->json, "errnos");
	int own = errno_of(model, check, s);
	json_t *name;
	size_t i;

	json_array_foreach(list, i, name)
		if (errno_by_name(json_string_value(name), NULL) == err)
			return true;
	return !err || own == err || (!own && !list);
}

static bool is_suspect(const struct model *model, const struct check *check, struct situation *s,
		       int err, enum truth truth)
{
	const struct fact *why;

	return can_give(model, check, s, err) &&
	       predicate_holds(check->may, &model->facts, s, &why) == truth;
}

size_t model_suspects(const struct model *model, struct situation *s, int err,
		      const struct check **out, size_t max)
{
	static const enum truth passes[] = {HOLDS, NOT_KNOWN};
	size_t n = 0;

	for (size_t pass = 0; pass < sizeof(passes) / sizeof(passes[0]); pass++)
		for (size_t i = 0; i < model->suspect_count && n < max; i++) {
			const struct check *check = &model->suspects[i];

			if (is_suspect(model, check, s, err, passes[pass]))
				out[n++] = check;
		}
	return n;
}

bool model_may_be_others(const struct model *model, struct situation *s, int err,
			 const struct check *before)
{
	for (size_t i = 0; i < model->suspect_count; i++) {
		const struct check *check = &model->suspects[i];

		if (json_object_get(check->json, "others") &&
		    (!before || before->gate >= check->gate) &&
		    is_suspect(model, check, s, err, HOLDS))
			return true;
	}
	return false;
}
