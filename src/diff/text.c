/* SPDX-License-Identifier: MIT */
/*
 * For a terminal: what is worse first, each by itself; then what is better; then the rest, folded
 * up.
 */
#include <stdlib.h>
#include <string.h>

#include "diff/diff.h"
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
static void print_diff_entry(FILE *f, const json_t *diff, const struct diff_group *group)
{
	const json_t *entry = group->first;

	if (member_text(entry, "answer")[0])
		say(f, "    %s  ", member_text(entry, "answer"));
	else
		say(f, "    %s -> %s  ", member_text(entry, "a"), member_text(entry, "b"));
	if (group->count > 1)
		fprintf(f, "%zu %s", group->count, diff_noun(diff, group->count));
	else
		one_line_print(f, member_text(entry, "id"), "\n");
	fputc('\n', f);
}

/* Each by itself; what several have as their reason stands once, behind the last of them. */
static void print_diff_worse(FILE *f, const json_t *diff, bool is_long)
{
	const json_t *list = json_object_get(diff, "worse");
	struct diff_group *groups = or_exit(calloc(json_array_size(list) + 1, sizeof(*groups)));
	size_t count = diff_sort(list, groups);
	const char *topic = NULL;

	if (count)
		fprintf(f, "\nWorse in B: %zu\n", count);
	for (size_t i = 0; i < count; i++) {
		print_diff_topic(f, groups[i].first, &topic);
		print_diff_entry(f, diff, &groups[i]);
		if (is_long || i + 1 == count ||
		    !diff_is_alike(groups[i].first, groups[i + 1].first))
			print_diff_because(f, groups[i].first);
	}
	free(groups);
}

static void print_diff_list(FILE *f, const json_t *diff, const char *key, const char *title,
			    bool is_long)
{
	const json_t *list = json_object_get(diff, key);
	struct diff_group *groups = or_exit(calloc(json_array_size(list) + 1, sizeof(*groups)));
	size_t count = diff_fold(list, is_long, groups);
	const char *topic = NULL;

	if (count)
		fprintf(f, "\n%s: %zu\n", title, json_array_size(list));
	for (size_t i = 0; i < count; i++) {
		print_diff_topic(f, groups[i].first, &topic);
		print_diff_entry(f, diff, &groups[i]);
		print_diff_because(f, groups[i].first);
	}
	free(groups);
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

/*
 * For a merge request: what is worse stands open, the rest is folded. What comes from a
 * report is text, whatever is in it.
 */

/* Control characters become spaces, and what Markdown or HTML would read is escaped. */
static void mark_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			fputc(' ', f);
		else if (*text == '<')
			fputs("&lt;", f);
		else if (*text == '&')
			fputs("&amp;", f);
		else if (strchr("\\`*_[]|~#@!", *text))
			fprintf(f, "\\%c", *text);
		else
			fputc(*text, f);
	}
}

static void mark_value(FILE *f, const json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	mark_text(f, text ? text : "");
	free(text);
}

/* What one side alone has stands in that side's column. */
static const char *answer_in(const json_t *entry, const char *side, const char *list)
{
	const char *answer = member_text(entry, "answer");

	if (!answer[0])
		return member_text(entry, side);
	return list[strlen(list) - 1] == side[0] ? answer : "";
}

static void mark_row(FILE *f, const json_t *diff, const char *list, const struct diff_group *group)
{
	const json_t *entry = group->first;

	fputs("| ", f);
	if (group->count > 1)
		fprintf(f, "%zu %s of ", group->count, diff_noun(diff, group->count));
	mark_text(f, member_text(entry, group->count > 1 ? "topic" : "id"));
	fputs(" | ", f);
	mark_text(f, answer_in(entry, "a", list));
	fputs(" | ", f);
	mark_text(f, answer_in(entry, "b", list));
	fputs(diff_is_of_a(entry) ? " | in A: " : " | ", f);
	mark_text(f, member_text(entry, "because"));
	fputs(" |\n", f);
}

static void mark_table(FILE *f, const json_t *diff, const char *key, const char *title, bool folds,
		       bool is_long)
{
	const json_t *list = json_object_get(diff, key);
	struct diff_group *groups = or_exit(calloc(json_array_size(list) + 1, sizeof(*groups)));
	size_t count = diff_fold(list, is_long, groups);

	if (count) {
		fprintf(f, folds ? "\n<details><summary>%s: %zu</summary>\n" : "\n### %s: %zu\n",
			title, json_array_size(list));
		fprintf(f, "\n| %s | A | B | why |\n|---|---|---|---|\n", diff_noun(diff, 1));
	}
	for (size_t i = 0; i < count; i++)
		mark_row(f, diff, key, &groups[i]);
	if (count && folds)
		fputs("\n</details>\n", f);
	free(groups);
}

static void mark_facts(FILE *f, const json_t *facts)
{
	const json_t *fact;
	size_t i;

	if (!json_array_size(facts))
		return;
	fprintf(f, "\n<details><summary>Facts: %zu</summary>\n\n| fact | A | B |\n|---|---|---|\n",
		json_array_size(facts));
	json_array_foreach(facts, i, fact) {
		fputs("| ", f);
		mark_text(f, member_text(fact, "topic"));
		fputs(", ", f);
		mark_text(f, member_text(fact, "title"));
		fputs(" | ", f);
		mark_value(f, json_object_get(fact, "a"));
		fputs(" | ", f);
		mark_value(f, json_object_get(fact, "b"));
		fputs(" |\n", f);
	}
	fputs("\n</details>\n", f);
}

static void mark_side(FILE *f, const char *name, const json_t *about)
{
	char text[512];

	diff_name(about, text, sizeof(text));
	fprintf(f, "- **%s** ", name);
	mark_text(f, text);
	diff_end(about, text, sizeof(text));
	fprintf(f, "%s%s\n", text[0] ? ": " : "", text);
}

void diff_markdown(const json_t *diff, bool is_long, FILE *f)
{
	char counts[256];

	diff_counts(diff, counts, sizeof(counts));
	fprintf(f, "**perf_event_open(2): %s**\n\n", counts);
	mark_side(f, "A", json_object_get(diff, "a"));
	mark_side(f, "B", json_object_get(diff, "b"));
	if (diff_cases(diff)[0])
		fprintf(f, "\n%s\n", diff_cases(diff));
	mark_table(f, diff, "worse", "Worse in B", false, true);
	mark_table(f, diff, "better", "Better in B", true, is_long);
	mark_table(f, diff, "other", "Otherwise different", true, is_long);
	mark_table(f, diff, "only_a", "Only in A", true, is_long);
	mark_table(f, diff, "only_b", "Only in B", true, is_long);
	mark_facts(f, json_object_get(diff, "facts"));
}
