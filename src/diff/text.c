/* SPDX-License-Identifier: MIT */
/*
 * For a terminal: what is worse first, each by itself; then what is better; then the rest, rolled
 * up.
 */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "text/one_line.h"
#include "text/json_text.h"
#include "text/say.h"

static void print_diff_side(FILE *f, const char *name, const json_t *about)
{
	char text[512];

	diff_name(about, text, sizeof(text));
	fprintf(f, "%s  ", name);
	one_line_print(f, text, "\n");
	if (member_text(about, "time")[0])
		say(f, ", %s", member_text(about, "time"));
	fputc('\n', f);
	diff_end(about, text, sizeof(text));
	if (text[0])
		fprintf(f, "   %s\n", text);
}

/* A line when the topic is another one than before. */
static void print_diff_topic(FILE *f, const json_t *entry, const char **topic)
{
	if (*topic && !strcmp(*topic, member_text(entry, "topic")))
		return;
	*topic = member_text(entry, "topic");
	fputs("  ", f);
	one_line_print(f, *topic, "\n");
	fputc('\n', f);
}

/* Of what is right in B, it is why A was not. */
static void print_diff_because(FILE *f, const json_t *entry)
{
	if (!member_text(entry, "because")[0])
		return;
	fputs(diff_is_of_a(entry) ? "      in A: " : "      ", f);
	one_line_print(f, member_text(entry, "because"), "\n");
	fputc('\n', f);
}

/* A change, or what one side alone has; then of which case, or of how many. */
static void print_diff_entry(FILE *f, const json_t *diff, const struct roll *roll)
{
	const json_t *entry = roll->first;

	if (member_text(entry, "answer")[0])
		say(f, "    %s  ", member_text(entry, "answer"));
	else
		say(f, "    %s -> %s  ", member_text(entry, "a"), member_text(entry, "b"));
	if (roll->count > 1)
		fprintf(f, "%zu %s", roll->count, diff_noun(diff, roll->count));
	else
		one_line_print(f, member_text(entry, "id"), "\n");
	fputc('\n', f);
}

/* Each by itself; what several have as their reason stands once, behind the last of them. */
static void print_diff_worse(FILE *f, const json_t *diff, bool is_long)
{
	const json_t *list = json_object_get(diff, "worse");
	struct roll *rolls = calloc(json_array_size(list) + 1, sizeof(*rolls));
	size_t count = rolls ? diff_sort(list, rolls) : 0;
	const char *topic = NULL;

	if (count)
		fprintf(f, "\nWorse in B: %zu\n", count);
	for (size_t i = 0; i < count; i++) {
		print_diff_topic(f, rolls[i].first, &topic);
		print_diff_entry(f, diff, &rolls[i]);
		if (is_long || i + 1 == count || !diff_is_alike(rolls[i].first, rolls[i + 1].first))
			print_diff_because(f, rolls[i].first);
	}
	free(rolls);
}

static void print_diff_list(FILE *f, const json_t *diff, const char *key, const char *title,
			    bool is_long)
{
	const json_t *list = json_object_get(diff, key);
	struct roll *rolls = calloc(json_array_size(list) + 1, sizeof(*rolls));
	size_t count = rolls ? diff_roll_up(list, is_long, rolls) : 0;
	const char *topic = NULL;

	if (count)
		fprintf(f, "\n%s: %zu\n", title, json_array_size(list));
	for (size_t i = 0; i < count; i++) {
		print_diff_topic(f, rolls[i].first, &topic);
		print_diff_entry(f, diff, &rolls[i]);
		print_diff_because(f, rolls[i].first);
	}
	free(rolls);
}

static void print_diff_facts(FILE *f, const json_t *facts)
{
	const json_t *fact;
	size_t i;

	if (json_array_size(facts))
		fprintf(f, "\nFacts: %zu\n", json_array_size(facts));
	json_array_foreach(facts, i, fact) {
		char *a = json_dumps(json_object_get(fact, "a"), JSON_ENCODE_ANY | JSON_COMPACT);
		char *b = json_dumps(json_object_get(fact, "b"), JSON_ENCODE_ANY | JSON_COMPACT);

		fputs("    ", f);
		one_line_print(f, member_text(fact, "topic"), "\n");
		fputs(", ", f);
		one_line_print(f, member_text(fact, "title"), "\n");
		fputs("  ", f);
		one_line_print(f, a ? a : "", "\n");
		fputs(" -> ", f);
		one_line_print(f, b ? b : "", "\n");
		fputc('\n', f);
		free(a);
		free(b);
	}
}

void diff_text(const json_t *diff, bool is_long, FILE *f)
{
	const json_t *a = json_object_get(diff, "a"), *b = json_object_get(diff, "b");
	char counts[256];

	print_diff_side(f, "A", a);
	print_diff_side(f, "B", b);
	if (diff_cases(diff)[0])
		fprintf(f, "%s\n", diff_cases(diff));
	print_diff_worse(f, diff, is_long);
	print_diff_list(f, diff, "better", "Better in B", is_long);
	print_diff_list(f, diff, "other", "Otherwise different", is_long);
	print_diff_list(f, diff, "only_a", "Only in A", is_long);
	print_diff_list(f, diff, "only_b", "Only in B", is_long);
	print_diff_facts(f, json_object_get(diff, "facts"));
	diff_counts(diff, counts, sizeof(counts));
	fprintf(f, "\n%s\n", counts);
}
