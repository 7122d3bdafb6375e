/* SPDX-License-Identifier: MIT */
/*
 * Worse is what A has and B has not: a promise kept, a capability. So is what B could not be judged
 * of any more, an error: that must not pass silently. What one of them skipped, or a probe could
 * not tell, is neither worse nor better.
 */
#include <stdlib.h>
#include <string.h>

#include "diff/diff.h"
#include "text/json_text.h"

enum standing { NEITHER, NOT_KEPT, KEPT };

/* The worst first. */
static const struct {
	const char *answer;
	enum standing standing;
} standings[] = {{"fail", NOT_KEPT},  {"unstable", NOT_KEPT}, {"error", NOT_KEPT},
		 {"no", NOT_KEPT},    {"denied", NOT_KEPT},   {"xpass", KEPT},
		 {"xfail", NOT_KEPT}, {"yes", KEPT},          {"pass", KEPT},
		 {"skip", NEITHER}};
enum { STANDINGS = sizeof(standings) / sizeof(standings[0]) };

/* An answer that a newer perfabi has is behind all of these. */
static int badness_of(const char *answer)
{
	int rank = 0;

	while (rank < STANDINGS && strcmp(standings[rank].answer, answer) != 0)
		rank++;
	return rank;
}

static enum standing standing_of(const char *answer)
{
	int rank = badness_of(answer);

	return rank < STANDINGS ? standings[rank].standing : NEITHER;
}

static const char *change_of(const json_t *a, const json_t *b)
{
	enum standing before = standing_of(member_text(a, "answer"));
	enum standing after = standing_of(member_text(b, "answer"));

	if (before == KEPT && after == NOT_KEPT)
		return "worse";
	if (before == NOT_KEPT && after == KEPT)
		return "better";
	return "other";
}

/* An entry of a list, about what `of` tells: an answer or a fact. */
static json_t *new_entry_of(const char *key, const json_t *of)
{
	return json_pack("{s:s, s:s, s:s}", "id", key, "topic", member_text(of, "topic"), "title",
			 member_text(of, "title"));
}

/* Its reason is that of the side where it is not as it should be, B's first. */
static json_t *change_entry(const char *key, const json_t *a, const json_t *b)
{
	bool is_of_a = !member_text(b, "because")[0];
	json_t *entry = new_entry_of(key, b), *why = json_object_get(is_of_a ? a : b, "because");

	json_object_set(entry, "a", json_object_get(a, "answer"));
	json_object_set(entry, "b", json_object_get(b, "answer"));
	if (why) {
		json_object_set(entry, "because", why);
		json_object_set_new(entry, "because_of", json_string(is_of_a ? "a" : "b"));
	}
	return entry;
}

/* 0: alike. A change has `a` and `b`; what one side alone has, `answer`. */
static int compare_what(const json_t *a, const json_t *b)
{
	static const char *const keys[] = {"answer", "a", "b", "because_of", "because"};
	int order = strcmp(member_text(a, "topic"), member_text(b, "topic"));

	if (!order)
		order = badness_of(member_text(a, "answer")) - badness_of(member_text(b, "answer"));
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !order; i++)
		order = strcmp(member_text(a, keys[i]), member_text(b, keys[i]));
	return order;
}

static int compare_entries(const void *x, const void *y)
{
	const json_t *const *a = x, *const *b = y;
	int order = compare_what(*a, *b);

	return order ? order : strcmp(member_text(*a, "id"), member_text(*b, "id"));
}

size_t diff_alike(const json_t *list, size_t i, size_t most)
{
	size_t n = 1;

	while (n < most && i + n < json_array_size(list) &&
	       !compare_what(json_array_get(list, i), json_array_get(list, i + n)))
		n++;
	return n;
}

static void sort_list(json_t *list)
{
	size_t count = json_array_size(list);
	json_t **entries = or_exit(calloc(count + 1, sizeof(*entries)));

	for (size_t i = 0; i < count; i++)
		entries[i] = json_incref(json_array_get(list, i));
	qsort(entries, count, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < count; i++)
		json_array_set_new(list, i, entries[i]);
	free(entries);
}

/* What the one has and the others have not. */
static json_t *only(const json_t *answers, const json_t *others)
{
	json_t *list = json_array(), *answer;
	const char *key;

	json_object_foreach((json_t *)answers, key, answer) {
		json_t *entry = json_object_get(others, key) ? NULL : new_entry_of(key, answer);

		if (!entry)
			continue;
		json_object_set(entry, "answer", json_object_get(answer, "answer"));
		json_array_append_new(list, entry);
	}
	return list;
}

/* Facts with other values; of one that a side does not tell, that is null there. */
static json_t *compare_facts(const json_t *a, const json_t *b)
{
	json_t *list = json_array(), *all = json_copy((json_t *)b), *fact;
	const char *key;

	json_object_update(all, (json_t *)a);
	json_object_foreach(all, key, fact) {
		json_t *x = json_object_get(json_object_get(a, key), "value");
		json_t *y = json_object_get(json_object_get(b, key), "value");
		json_t *entry;

		x = x ? x : json_null();
		y = y ? y : json_null();
		if (json_equal(x, y))
			continue;
		entry = new_entry_of(key, fact);
		json_object_set(entry, "a", x);
		json_object_set(entry, "b", y);
		json_array_append_new(list, entry);
	}
	json_decref(all);
	return list;
}

json_t *diff_sides(const json_t *a, const json_t *b)
{
	static const char *const lists[] = {"worse",  "better", "other",
					    "only_a", "only_b", "facts"};
	const json_t *in_a = json_object_get(a, "answers"), *in_b = json_object_get(b, "answers");
	json_t *diff = json_pack(
		"{s:s, s:O, s:O, s:[], s:[], s:[], s:o, s:o, s:o}", "type", member_text(a, "type"),
		"a", json_object_get(a, "about"), "b", json_object_get(b, "about"), "worse",
		"better", "other", "only_a", only(in_a, in_b), "only_b", only(in_b, in_a), "facts",
		compare_facts(json_object_get(a, "facts"), json_object_get(b, "facts")));
	json_int_t same = 0;
	const char *key;
	json_t *answer;

	json_object_foreach((json_t *)in_a, key, answer) {
		const json_t *other = json_object_get(in_b, key);

		if (!other)
			continue;
		if (!strcmp(member_text(answer, "answer"), member_text(other, "answer")))
			same++;
		else
			json_array_append_new(json_object_get(diff, change_of(answer, other)),
					      change_entry(key, answer, other));
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		sort_list(json_object_get(diff, lists[i]));
	json_object_set_new(diff, "same", json_integer(same));
	return diff;
}
