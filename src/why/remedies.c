/* SPDX-License-Identifier: MIT */
/*
 * The changes by which a refused call opens, what is behind its first refusal, and what leads
 * nowhere.
 */
#include <stdlib.h>

#include "why/asking.h"
#include "why/search.h"

enum { SENTENCE = 1024, DEAD_ENDS = 3 };

/* A remedy as it is told, change by change. */
struct telling {
	struct asking *asking;
	json_t *does, *loses;
};

static void tell_change(void *context, const struct change *change, struct situation *s)
{
	struct telling *t = context;
	const struct model *model = t->asking->inquiry->model;
	char text[SENTENCE];

	change_write(change, model, s, text, sizeof(text));
	json_array_append_new(t->does, json_string(text));
	if (!change->loses.count)
		return;
	sentence_write(&change->loses, &model->facts, s, text, sizeof(text));
	json_array_append_new(t->loses, json_string(text));
}

/* Says why the event would be of no use, if it would. */
static void tell_uselessness(json_t *json, struct asking *a, const struct call *changed)
{
	json_t *remarks, *one;
	size_t i;

	count_call(a, changed);
	remarks = remarks_of(&a->inquiry->knowledge->notes, a);
	json_array_foreach(remarks, i, one)
		if (json_object_get(one, "useless") && !json_object_get(json, "useless"))
			json_object_set(json, "useless", json_object_get(one, "says"));
	json_decref(remarks);
}

static json_t *remedy_json(struct asking *a, const struct remedy *remedy, struct call *changed)
{
	struct telling t = {.asking = a, .does = json_array(), .loses = json_array()};
	json_t *json = json_pack("{s:o,s:o,s:b}", "do", t.does, "loses", t.loses, "tried",
				 a->asker.attempts != NULL);

	remedy_make(remedy, &a->asker, &a->inquiry->knowledge->changes, &a->call, changed,
		    tell_change, &t);
	situation_begin(&a->asker.situation, &a->inquiry->model->machine, changed, &a->asker.caller,
			&a->asker.world);
	if (remedy->is_unsure)
		tell_unknown(json, "unsure", &remedy->unsure, a);
	if (remedy->is_fallback)
		json_object_set_new(json, "fallback", json_true());
	tell_uselessness(json, a, changed);
	json_object_set_new(
		json, "open",
		stage_open_json(a->asker.stage, a->inquiry->model->machine.env, changed));
	return json;
}

/* What refuses the call once the first of a remedy's changes are made. */
static void tell_behind(struct asking *a, const struct remedy *remedy, struct call *changed)
{
	json_t *behind = json_array();

	for (size_t n = 1; n < remedy->count; n++) {
		struct remedy first = *remedy;
		struct finding f;
		json_t *json, *last;

		first.count = n;
		remedy_make(&first, &a->asker, &a->inquiry->knowledge->changes, &a->call, changed,
			    NULL, NULL);
		f = asker_ask(&a->asker, changed);
		if (f.outcome != REFUSED || f.check == a->found.check)
			continue;
		json = json_object();
		tell_finding(json, &f, a);
		json_object_del(json, "opened");
		last = json_array_get(behind, json_array_size(behind) - 1);
		if (!json_equal(last, json))
			json_array_append(behind, json);
		json_decref(json);
	}
	if (json_array_size(behind))
		json_object_set(a->answer, "behind", behind);
	json_decref(behind);
}

/* The call changed, then who calls or a sysctl, then another event, then what is of no use. */
static int rank_of(const json_t *change)
{
	if (json_object_get(change, "useless"))
		return 3;
	if (json_object_get(change, "fallback"))
		return 2;
	return json_object_get(change, "open") ? 0 : 1;
}

void put_change(json_t *list, json_t *change)
{
	const json_t *open = json_object_get(change, "open");
	size_t at = 0, i;
	json_t *other;

	json_array_foreach(list, i, other) {
		if ((open && json_equal(json_object_get(other, "open"), open)) ||
		    json_equal(json_object_get(other, "do"), json_object_get(change, "do"))) {
			json_decref(change);
			return;
		}
	}
	while (at < json_array_size(list) && rank_of(json_array_get(list, at)) <= rank_of(change))
		at++;
	json_array_insert_new(list, at, change);
}

/* What one change alone brings, where it brings the call to another check and does not open it. */
static json_t *dead_end_json(struct asking *a, size_t change, struct call *changed)
{
	struct telling t = {.asking = a, .does = json_array(), .loses = json_array()};
	const struct remedy one = {.changes = {change}, .count = 1};
	struct finding f;
	json_t *json = NULL;

	remedy_make(&one, &a->asker, &a->inquiry->knowledge->changes, &a->call, changed,
		    tell_change, &t);
	f = asker_ask(&a->asker, changed);
	if (f.outcome == REFUSED && f.is_foreseen && a->found.check && f.check > a->found.check) {
		json = json_pack("{s:O}", "do", t.does);
		tell_finding(json, &f, a);
		json_object_del(json, "opened");
	}
	json_decref(t.does);
	json_decref(t.loses);
	return json;
}

/* What looks as if it helped: of those that lead to one check, the first. */
static void tell_dead_ends(struct asking *a, struct call *changed)
{
	json_t *list = json_array(), *seen = json_object();

	for (size_t i = 0;
	     i < a->inquiry->knowledge->changes.count && json_array_size(list) < DEAD_ENDS; i++) {
		json_t *one = dead_end_json(a, i, changed);
		const char *check = json_string_value(json_object_get(one, "check"));

		if (check && !json_object_get(seen, check)) {
			json_object_set_new(seen, check, json_true());
			json_array_append(list, one);
		}
		json_decref(one);
	}
	if (json_array_size(list))
		json_object_set(a->answer, "dead_ends", list);
	json_decref(list);
	json_decref(seen);
}

void seek_remedies(struct asking *a)
{
	struct remedies *found = calloc(1, sizeof(*found));
	struct call changed = {.image = calloc(1, a->inquiry->model->abi->attr_size)};
	json_t *list = json_array();

	if (found && changed.image && a->found.outcome == REFUSED &&
	    !search_remedies(&a->asker, &a->inquiry->knowledge->changes, &a->call, &a->found,
			     found)) {
		for (size_t i = 0; i < found->count; i++)
			put_change(list, remedy_json(a, &found->list[i], &changed));
		if (found->count)
			tell_behind(a, &found->list[0], &changed);
		else
			tell_dead_ends(a, &changed);
		if (found->is_cut)
			json_object_set_new(a->answer, "cut", json_true());
	}
	json_object_set(a->answer, "changes", list);
	json_decref(list);
	free(changed.image);
	free(found);
}
