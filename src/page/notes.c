/* SPDX-License-Identifier: MIT */
/*
 * A machine has several reports where several users ran perfabi, or one did again.
 */
#include "page/notes.h"

#include <string.h>

static const struct {
	const char *key, *before;
} facts[] = {{"bits", "bits "},         {"uid", "uid "}, {"capabilities", "capabilities "},
	     {"paranoid", "paranoid "}, {"time", ""},    {"file", ""}};
enum { FACTS = sizeof(facts) / sizeof(facts[0]) };

static bool is_alike(const struct column *a, const struct column *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->kernel, b->kernel) &&
	       !strcmp(a->machine, b->machine);
}

static bool all_have(const struct column *first, const struct column *end, const char *key)
{
	const json_t *value = json_object_get(first->about, key);

	for (const struct column *column = first + 1; column < end; column++) {
		const json_t *other = json_object_get(column->about, key);

		if (other != value && !json_equal(other, value))
			return false;
	}
	return true;
}

/* "uid 0" behind what the note has so far. */
static json_t *with_fact(const char *so_far, const char *before, const json_t *value)
{
	const char *between = so_far[0] ? ", " : "";

	if (json_is_integer(value))
		return json_sprintf("%s%s%s%lld", so_far, between, before,
				    (long long)json_integer_value(value));
	return json_sprintf("%s%s%s%s", so_far, between, before,
			    json_is_string(value) ? json_string_value(value) : "not known");
}

static void note_column(const struct column *column, const bool differs[FACTS])
{
	json_t *note = json_string("");

	for (size_t i = 0; i < FACTS; i++) {
		json_t *longer;

		/* The file tells them apart where nothing else does. */
		if (!differs[i] || (i == FACTS - 1 && json_string_length(note)))
			continue;
		longer = with_fact(json_string_value(note), facts[i].before,
				   json_object_get(column->about, facts[i].key));
		json_decref(note);
		note = longer;
	}
	json_object_set_new(column->about, "note", note);
}

void notes_settle(struct table *table)
{
	struct column *end = table->columns + table->column_count, *next;

	for (struct column *first = table->columns; first < end; first = next) {
		bool differs[FACTS];

		for (next = first + 1; next < end && is_alike(first, next);)
			next++;
		for (size_t i = 0; i < FACTS; i++)
			differs[i] = !all_have(first, next, facts[i].key);
		for (struct column *column = first; next - first > 1 && column < next; column++)
			note_column(column, differs);
	}
}
