/* SPDX-License-Identifier: MIT */
/*
 * Loading `words`, and choosing among their texts.
 */
#include "model/wording.h"

#include <errno.h>

/* The place of the first text whose condition holds. */
static bool choose_text(const struct fact *fact, struct situation *s, uint64_t *value)
{
	const struct wording *wording = fact->wording;
	const struct fact *why;

	for (size_t i = 0; i < wording->texts.count; i++) {
		*value = i;
		if (!wording->when[i] ||
		    predicate_holds(wording->when[i], wording->facts, s, &why) == HOLDS)
			return true;
	}
	return false;
}

static int load_text(struct wording *wording, const json_t *json, struct vocabulary *v,
		     const struct where *w, struct error *e)
{
	const json_t *when = json_object_get(json, "if");
	const char *text = json_string_value(json_object_get(json, "text"));
	struct where at = where_key(w, "if");
	size_t i = wording->texts.count++;

	if (!text)
		return error_value(e, w, json, "a text, and the `if` on which it is said");
	wording->values[i] = (struct abi_value){.name = text, .value = i};
	if (when)
		wording->when[i] = predicate_compile(when, v, &at, e);
	return error_is_set(e) ? -EINVAL : 0;
}

static struct wording *new_wording(const struct facts *facts, size_t count, struct arena *arena)
{
	struct wording *wording = arena_alloc(arena, sizeof(*wording));

	if (!wording)
		return NULL;
	wording->facts = facts;
	wording->values = arena_alloc(arena, count * sizeof(*wording->values));
	wording->when = arena_alloc(arena, count * sizeof(*wording->when));
	wording->texts = (struct abi_family){.prefix = "", .values = wording->values};
	return wording->values && wording->when ? wording : NULL;
}

static int load_wording(struct facts *facts, const char *name, const json_t *list,
			struct vocabulary *v, const struct where *w, struct error *e)
{
	struct wording *wording = new_wording(facts, json_array_size(list) + 1, v->arena);
	struct fact fact = {.name = arena_join(v->arena, "words.", name),
			    .about = "a part of sentences, of cases/model.json",
			    .get = choose_text,
			    .wording = wording};
	json_t *json;
	size_t i;

	if (!wording || !fact.name)
		return error_no_memory(e, w, "memory for the words");
	json_array_foreach(list, i, json) {
		struct where at = where_index(w, i);

		if (load_text(wording, json, v, &at, e))
			return -EINVAL;
	}
	fact.names = &wording->texts;
	wording->texts.name = fact.name;
	return facts_add(facts, &fact) ? error_no_memory(e, w, "room for the words") : 0;
}

int facts_add_words(struct facts *facts, const json_t *words, struct vocabulary *v,
		    const struct where *w, struct error *e)
{
	const char *name;
	json_t *list;

	json_object_foreach((json_t *)words, name, list) {
		struct where at = where_key(w, name);

		if (load_wording(facts, name, list, v, &at, e))
			return -EINVAL;
	}
	return 0;
}
