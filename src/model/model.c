/* SPDX-License-Identifier: MIT */
/*
 * Loading the checks, and asking them one after the other.
 */
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/names.h"
#include "model/predicate.h"
#include "text/json_text.h"

/*
 * Loading `words`, and choosing among their texts.
 */

struct fact_words {
	const struct facts *facts;
	struct word_text {
		struct predicate *when; /* NULL: always */
		const char *text;
	} * list;
	struct abi_family texts; /* the same, as values */
};

/* The place of the first text whose condition holds. */
static bool choose_text(const struct fact *fact, struct evaluation *s, uint64_t *value)
{
	const struct fact_words *words = fact->words;

	for (size_t i = 0; i < words->texts.count; i++) {
		*value = i;
		if (!words->list[i].when ||
		    predicate_holds(words->list[i].when, words->facts, s, NULL) == HOLDS)
			return true;
	}
	return false;
}

static const struct doc_row text_rows[] = {{"if", DOC_READ, false, AT(struct word_text, when),
					    .read = predicate_read, .takes = "predicate"},
					   {"text", DOC_TEXT, true, AT(struct word_text, text)},
					   {0}};
static const struct doc_type text_type = {"a text, and the `if` on which it is said", text_rows,
					  .size = sizeof(struct word_text)};

static int load_word_texts(struct facts *facts, const char *name, const json_t *list,
			   struct vocabulary *v, const struct where *w, struct error *e)
{
	size_t count = json_array_size(list);
	struct fact_words *words = or_exit(arena_alloc(v->arena, sizeof(*words)));
	struct word_text *texts = or_exit(arena_array(v->arena, count + 1, sizeof(*texts)));
	struct abi_value *values = or_exit(arena_array(v->arena, count + 1, sizeof(*values)));
	struct fact fact = {.name = or_exit(arena_join(v->arena, "words.", name)),
			    .about = "a part of sentences, of cases/model.json",
			    .get_by = choose_text,
			    .words = words};
	struct doc d = {v->arena, e, v};

	for (size_t i = 0; i < count; i++) {
		if (doc_read(&d, &text_type, json_array_get(list, i), &texts[i], AT_INDEX(w, i)))
			return -EINVAL;
		values[i] = (struct abi_value){.name = texts[i].text, .value = i};
	}
	*words = (struct fact_words){
		facts, texts, {.name = fact.name, .prefix = "", .values = values, .count = count}};
	fact.names = &words->texts;
	facts_add(facts, &fact);
	return facts->is_full ? error_text(e, w, "more", "at most %d facts and words", FACTS_MAX)
			      : 0;
}

/*
 * Adds the facts words.NAME to `facts`, which stays where it is, with what `v` has. A words may
 * go by those before it. 0, or a negative errno with `e` filled.
 */
static int facts_add_words(struct facts *facts, const json_t *words, struct vocabulary *v,
			   const struct where *w, struct error *e)
{
	const char *name;
	json_t *list;

	json_object_foreach((json_t *)words, name, list) {
		if (load_word_texts(facts, name, list, v, AT_KEY(w, name), e))
			return -EINVAL;
	}
	return 0;
}

static void add_facts(struct model *model)
{
	static const struct fact *const lists[] = {attr_facts,  call_facts,       caller_facts,
						   pmu_facts,   breakpoint_facts, path_facts,
						   group_facts, unknown_facts,    then_facts};
	struct facts *facts = &model->facts;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct fact *fact = lists[i]; fact->name; fact++)
			facts_add(facts, fact);
	facts_add_properties(facts);
	facts_add_fields(facts, model->abi, &model->arena);
	facts_add_classes(facts, &model->kinds, &model->arena);
	facts_add_learned(facts, &model->learned);
	for (size_t i = 0; i < model->facts.count; i++) {
		struct fact *fact = &model->facts.list[i];

		if (fact->family)
			fact->names = strcmp(fact->family, model->kinds.names.name)
					      ? abi_family(model->abi, fact->family)
					      : &model->kinds.names;
	}
}

/* "EINVAL", "unknown", or "$fact" for an errno that depends on the call. */
static int result_of_check(const struct doc *d, const json_t *json, struct check_result *result,
			   const struct where *w)
{
	const struct vocabulary *v = d->context;
	const char *text = json_string_value(json);
	struct nearest near = nearest_to(text ? text : "");

	result->fact = -1;
	if (!text)
		return error_value(d->e, w, json, "an errno");
	if (text[0] == '$') {
		near = nearest_to(text + 1);
		result->fact = facts_find(v->facts, text + 1, &near);
		return result->fact < 0
			       ? error_name(d->e, w, text, near.best, "a fact, after the $")
			       : 0;
	}
	if (!strcmp(text, "unknown"))
		return 0;
	result->err = errno_by_name(text, &near);
	return result->err ? 0 : error_name(d->e, w, text, near.best, "an errno, or unknown");
}

static int read_gate(struct doc *d, const json_t *json, void *at, const struct where *w)
{
	const struct vocabulary *v = d->context;
	const char *name = json_string_value(json);
	struct nearest near = nearest_to(name ? name : "");
	int gate = name ? phase_by_name(v->phases, name, &near) : -1;

	*(int *)at = gate;
	return gate < 0 ? error_name(d->e, w, name ? name : "nothing", near.best, "a gate") : 0;
}

static const struct doc_type reason_type = {
	"what a check says",
	(const struct doc_row[]){{"if", DOC_READ, false, AT(struct reason, when),
				  .read = predicate_read, .takes = "predicate"},
				 {"because", DOC_READ, true, AT(struct reason, because),
				  .read = sentence_read, .takes = "sentence"},
				 {"instead", DOC_READ, false, AT(struct reason, instead),
				  .read = sentence_read, .takes = "sentence"},
				 {0}},
	.size = sizeof(struct reason)};

/* Letters of the checks of mmap(2), ioctl(2), read(2) and poll(2), which have no gates. */
static const char after_open[] = "MIRL";

static int check_check(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	const char *id = w->key;
	struct check *check = made;

	check->json = json;
	if (!check->when && !check->may)
		return 0;
	if (!json_object_get(json, "gate")) {
		check->gate = -1;
		if (!strchr(after_open, id[0]))
			return error_value(d->e, AT_KEY(w, "gate"), NULL, "a gate");
	}
	if (result_of_check(d, json_object_get(json, "result"), &check->result,
			    AT_KEY(w, "result")))
		return -EINVAL;
	if (check->reason_count)
		return 0;
	if (!check->own.because.count)
		return check->unsaid.count
			       ? 0
			       : error_value(d->e, w, json, "`because`, `says` or `unsaid`");
	check->says = &check->own;
	check->reason_count = 1;
	return 0;
}

#define ONLY_READ(key)                                                                             \
	{                                                                                          \
		key, DOC_ANY, false, .at = DOC_NOWHERE                                             \
	}

static const struct doc_type check_type = {
	"a check",
	(const struct doc_row[]){{"gate", DOC_READ, false, AT(struct check, gate),
				  .read = read_gate, .takes = "phase"},
				 ONLY_READ("result"),
				 {"if", DOC_READ, false, AT(struct check, when),
				  .read = predicate_read, .takes = "predicate"},
				 {"may", DOC_READ, false, AT(struct check, may),
				  .read = predicate_read, .takes = "predicate"},
				 {"because", DOC_READ, false, AT(struct check, own.because),
				  .read = sentence_read, .takes = "sentence"},
				 {"instead", DOC_READ, false, AT(struct check, own.instead),
				  .read = sentence_read, .takes = "sentence"},
				 {"says", DOC_LIST, false, AT(struct check, says),
				  .type = &reason_type,
				  .count = offsetof(struct check, reason_count), .least = 1},
				 {"unsaid", DOC_READ, false, AT(struct check, unsaid),
				  .read = sentence_read, .takes = "sentence"},
				 ONLY_READ("function"),
				 ONLY_READ("condition"),
				 ONLY_READ("since"),
				 ONLY_READ("no_case"),
				 ONLY_READ("part_of"),
				 ONLY_READ("note"),
				 ONLY_READ("errnos"),
				 ONLY_READ("writes_size"),
				 ONLY_READ("others"),
				 {0}},
	.size = sizeof(struct check), .check = check_check};

struct all_checks {
	struct check *list;
	size_t count;
};

const struct doc_type checks_file_type = {
	"checks.json",
	(const struct doc_row[]){ONLY_READ("$schema"),
				 ONLY_READ("about"),
				 {"checks", DOC_MAP, true, AT(struct all_checks, list),
				  .type = &check_type, .count = offsetof(struct all_checks, count)},
				 {0}},
	.size = sizeof(struct all_checks)};

/* Into the list of those that decide, of those that are suspects, or both. */
static int load_checks(struct model *model, const struct model_sources *from, struct vocabulary *v,
		       struct error *e)
{
	struct where root = where_root(from->checks);
	struct doc d = {&model->arena, e, v};
	json_t *file = or_exit(arena_keep(&model->arena, json_pack("{s:O}", "checks", from->list)));
	struct all_checks all;

	if (doc_read(&d, &checks_file_type, file, &all, &root))
		return -EINVAL;
	model->checks = or_exit(arena_array(&model->arena, all.count + 1, sizeof(*model->checks)));
	model->suspects =
		or_exit(arena_array(&model->arena, all.count + 1, sizeof(*model->suspects)));
	for (size_t i = 0; i < all.count; i++) {
		struct check check = all.list[i];

		if (check.when && check.gate >= 0)
			model->checks[model->count++] = check;
		check.may = check.may ? check.may : check.when;
		if (check.may && check.reason_count)
			model->suspects[model->suspect_count++] = check;
	}
	return 0;
}

int model_load(struct model *model, const struct model_sources *from, const struct tables *tables,
	       struct environment *env, struct error *e)
{
	struct where root = where_root(from->model), at_words = where_key(&root, "words");
	struct vocabulary v = {.abi = tables->abi,
			       .phases = &tables->phases,
			       .facts = &model->facts,
			       .env = env,
			       .arena = &model->arena};
	struct model_file file;

	*model = (struct model){.abi = tables->abi, .phases = &tables->phases};
	if (model_file_load(&file, from->model, &model->arena, e))
		return -EINVAL;
	model->kinds = file.kinds;
	model->learned = file.learned;
	add_facts(model);
	v.terms = model->terms = file.terms;
	if (facts_add_words(&model->facts, file.words, &v, &at_words, e))
		return -EINVAL;
	return load_checks(model, from, &v, e);
}

void model_free(struct model *model)
{
	machine_free(&model->machine);
	arena_free(&model->arena);
	*model = (struct model){0};
}

static int errno_of(const struct model *model, const struct check *check, struct evaluation *s)
{
	uint64_t err;

	if (check->result.fact < 0)
		return check->result.err;
	return fact_get(&model->facts, (size_t)check->result.fact, s, &err) ? (int)err : 0;
}

/*
 * A check that is not known to hold decides nothing, if the first that does hold gives the same
 * errno: then the errno is known, and that one is named, though the one before may refuse it.
 */
struct prediction model_predict(const struct model *model, struct evaluation *s)
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

const struct check *model_check_behind(const struct model *model, struct evaluation *s,
				       const struct check *first)
{
	for (const struct check *check = first + 1; check < model->checks + model->count; check++)
		if (errno_of(model, check, s) &&
		    predicate_holds(check->when, &model->facts, s, NULL) == HOLDS)
			return check;
	return NULL;
}

const struct reason *check_reason(const struct model *model, const struct check *check,
				  struct evaluation *s)
{
	for (size_t i = 0; i < check->reason_count; i++) {
		const struct reason *reason = &check->says[i];

		if (!reason->when || predicate_holds(reason->when, &model->facts, s, NULL) == HOLDS)
			return reason;
	}
	return check->reason_count ? &check->says[check->reason_count - 1] : NULL;
}

/* Of those whose errno is not predicted, `errnos` lists what it can be. */
static bool can_give(const struct model *model, const struct check *check, struct evaluation *s,
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

static bool is_suspect(const struct model *model, const struct check *check, struct evaluation *s,
		       int err, enum truth truth)
{
	return can_give(model, check, s, err) &&
	       predicate_holds(check->may, &model->facts, s, NULL) == truth;
}

size_t model_suspects(const struct model *model, struct evaluation *s, int err,
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

bool model_may_be_others(const struct model *model, struct evaluation *s, int err,
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

/*
 * What a check says of a call, as JSON.
 */

/* The one that was to refuse it, else the first that can be the cause; NULL: none is known. */
static const struct check *cause_of(const struct model *model, struct evaluation *s, int err)
{
	struct prediction p = model_predict(model, s);
	const struct check *check = p.outcome == REFUSED && p.err == err ? p.check : NULL;

	if (!check)
		model_suspects(model, s, err, &check, 1);
	return check;
}

bool model_tell_cause(const struct model *model, const struct call *call,
		      const struct caller *caller, const struct objects *objects, json_t *told)
{
	struct evaluation *s = or_exit(malloc(sizeof(*s)));
	const struct check *check;
	const struct reason *reason;

	evaluation_begin(s, &model->machine, call, caller, objects);
	check = cause_of(model, s, objects->known_errno);
	if (check) {
		reason = check_reason(model, check, s);
		json_object_set_new(told, "check", json_string(check->id));
		json_object_set(told, "function", json_object_get(check->json, "function"));
		if (reason) {
			sentence_tell(&reason->because, &model->facts, s, told, "because");
			sentence_tell(&reason->instead, &model->facts, s, told, "instead");
		}
		if (!json_object_get(told, "because") && !check->unsaid.count)
			json_object_set(told, "because", json_object_get(check->json, "condition"));
	}
	free(s);
	return check != NULL;
}
