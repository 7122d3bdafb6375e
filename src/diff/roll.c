/* SPDX-License-Identifier: MIT */
/*
 * Of a kernel that lacks something, each case that wants it tells the same.
 */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "text/json_text.h"

/* The worst first; an answer that a newer perfabi has is behind all of these. */
static int badness_of(const json_t *entry)
{
	static const char *const answers[] = {"fail",  "error", "no",   "denied", "xpass",
					      "xfail", "yes",   "pass", "skip"};
	const char *answer = member_text(entry, "answer");
	int rank = 0, count = sizeof(answers) / sizeof(answers[0]);

	while (rank < count && strcmp(answers[rank], answer) != 0)
		rank++;
	return rank;
}

/* An entry has a change, `a` and `b`, or what one side alone has, `answer`. */
static int by_kind(const void *x, const void *y)
{
	static const char *const keys[] = {"answer", "a", "b", "because_of", "because", "id"};
	const struct roll *a = x, *b = y;
	int order = strcmp(member_text(a->first, "topic"), member_text(b->first, "topic"));

	if (!order)
		order = badness_of(a->first) - badness_of(b->first);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !order; i++)
		order = strcmp(member_text(a->first, keys[i]), member_text(b->first, keys[i]));
	return order;
}

bool diff_is_alike(const json_t *a, const json_t *b)
{
	static const char *const keys[] = {"topic", "answer", "a", "b", "because_of", "because"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(member_text(a, keys[i]), member_text(b, keys[i])) != 0)
			return false;
	return true;
}

size_t diff_sort(const json_t *list, struct roll *rolls)
{
	size_t count = json_array_size(list);

	for (size_t i = 0; i < count; i++)
		rolls[i] = (struct roll){json_array_get(list, i), 1};
	qsort(rolls, count, sizeof(*rolls), by_kind);
	return count;
}

size_t diff_roll_up(const json_t *list, bool is_long, struct roll *rolls)
{
	size_t count = json_array_size(list), kept = 0;

	if (is_long) {
		for (size_t i = 0; i < count; i++)
			rolls[i] = (struct roll){json_array_get(list, i), 1};
		return count;
	}
	diff_sort(list, rolls);
	for (size_t i = 0; i < count; i++)
		if (kept && diff_is_alike(rolls[kept - 1].first, rolls[i].first))
			rolls[kept - 1].count++;
		else
			rolls[kept++] = rolls[i];
	return kept;
}

bool diff_is_of_a(const json_t *entry)
{
	return !strcmp(member_text(entry, "because_of"), "a");
}

const char *diff_noun(const json_t *diff, size_t count)
{
	if (!strcmp(member_text(diff, "type"), "probe"))
		return count == 1 ? "capability" : "capabilities";
	return count == 1 ? "case" : "cases";
}

void diff_name(const json_t *about, char *out, size_t size)
{
	const char *name = member_text(about, "name"), *kernel = member_text(about, "kernel");

	snprintf(out, size, "%s%sLinux %s %s", name, name[0] ? ", " : "",
		 kernel[0] ? kernel : "of a version that it does not say",
		 member_text(about, "machine"));
}

const char *diff_cases(const json_t *diff)
{
	const char *a = member_text(json_object_get(diff, "a"), "cases");
	const char *b = member_text(json_object_get(diff, "b"), "cases");

	if (!strcmp(a, b))
		return "";
	return "A and B had different case files: a difference can come from a case that was "
	       "changed, not from the machine.";
}

void diff_counts(const json_t *diff, char *out, size_t size)
{
	static const struct {
		const char *key, *words;
	} lists[] = {
		{"worse", "worse"},      {"better", "better"},    {"other", "otherwise different"},
		{"only_a", "only in A"}, {"only_b", "only in B"}, {"facts", "facts"}};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%s%zu %s", i ? ", " : "",
				       json_array_size(json_object_get(diff, lists[i].key)),
				       lists[i].words);
	if (at < size)
		snprintf(out + at, size - at, "; %lld the same",
			 (long long)json_integer_value(json_object_get(diff, "same")));
}

void diff_end(const json_t *about, char *out, size_t size)
{
	bool has_end = !json_is_false(json_object_get(about, "ended"));
	json_int_t unreached = json_integer_value(json_object_get(about, "unreached"));
	int n = snprintf(out, size, "%s", has_end ? "" : "the run has no end");

	if (unreached && n >= 0 && (size_t)n < size)
		snprintf(out + n, size - (size_t)n, "%s%lld %s not reached", has_end ? "" : "; ",
			 (long long)unreached, unreached == 1 ? "case was" : "cases were");
}
