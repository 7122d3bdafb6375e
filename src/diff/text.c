/* SPDX-License-Identifier: MIT */
/*
 * For a terminal and for a merge request: what is worse first, each by itself; then what is better;
 * then the rest, folded up.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff.h"
#include "text/json_text.h"
#include "text/say.h"

/* The lists of a diff in the order in which they are told. */
static const struct list {
	const char *key, *title, *counted;
	bool is_open; /* each of its entries stands by itself */
} lists[] = {{"worse", "Worse in B", "worse", true},
	     {"better", "Better in B", "better", false},
	     {"other", "Otherwise different", "otherwise different", false},
	     {"only_a", "Only in A", "only in A", false},
	     {"only_b", "Only in B", "only in B", false},
	     {"facts", "Facts", "facts", false}};
enum { FACTS = sizeof(lists) / sizeof(lists[0]) - 1 };

/* What it counts: cases, or capabilities. */
static const char *noun(const json_t *diff, size_t count)
{
	if (!strcmp(member_text(diff, "type"), "probe"))
		return count == 1 ? "capability" : "capabilities";
	return count == 1 ? "case" : "cases";
}

/* Of what is right in B, the reason is why A was not. */
static const char *whose_because(const json_t *entry)
{
	return strcmp(member_text(entry, "because_of"), "a") != 0 ? "" : "in A: ";
}

/* "h, Linux 6.18.44 x86_64": cut to fit. */
static void name_of_side(const json_t *about, char *out, size_t size)
{
	const char *name = member_text(about, "name"), *kernel = member_text(about, "kernel");

	snprintf(out, size, "%s%sLinux %s %s", name, name[0] ? ", " : "",
		 kernel[0] ? kernel : "of a version that it does not say",
		 member_text(about, "machine"));
}

/* What its run has not come to, behind `before`; nothing if it has come to its end. */
static void put_end(FILE *f, const char *before, const json_t *about)
{
	bool has_end = !json_is_false(json_object_get(about, "ended"));
	json_int_t unreached = json_integer_value(json_object_get(about, "unreached"));

	if (!has_end || unreached)
		fprintf(f, "%s%s", before, has_end ? "" : "the run has no end");
	if (unreached)
		fprintf(f, "%s%lld %s not reached", has_end ? "" : "; ", (long long)unreached,
			unreached == 1 ? "case was" : "cases were");
}

/* What follows from it that they had other case files. */
static void put_cases_differ(FILE *f, const char *before, const json_t *diff)
{
	if (strcmp(member_text(json_object_get(diff, "a"), "cases"),
		   member_text(json_object_get(diff, "b"), "cases")) != 0)
		fprintf(f,
			"%sA and B had different case files: a difference can come from a case "
			"that was changed, not from the machine.\n",
			before);
}

/* "3 worse, 1 better, ...; 2 the same": how many each list has. */
static void put_counts(FILE *f, const json_t *diff)
{
	for (size_t i = 0; i <= FACTS; i++)
		fprintf(f, "%s%zu %s", i ? ", " : "",
			json_array_size(json_object_get(diff, lists[i].key)), lists[i].counted);
	fprintf(f, "; %lld the same", (long long)json_integer_value(json_object_get(diff, "same")));
}

static void print_diff_side(FILE *f, const char *name, const json_t *about)
{
	char text[512];

	name_of_side(about, text, sizeof(text));
	fprintf(f, "%s  ", name);
	one_line_print(f, text, "\n");
	if (member_text(about, "time")[0])
		say(f, ", %s", member_text(about, "time"));
	put_end(f, "\n   ", about);
	fputc('\n', f);
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

/* A change, or what one side alone has; then of which case, or of how many. */
static void print_diff_entry(FILE *f, const json_t *diff, const json_t *entry, size_t count)
{
	if (member_text(entry, "answer")[0])
		say(f, "    %s  ", member_text(entry, "answer"));
	else
		say(f, "    %s -> %s  ", member_text(entry, "a"), member_text(entry, "b"));
	if (count > 1)
		fprintf(f, "%zu %s", count, noun(diff, count));
	else
		one_line_print(f, member_text(entry, "id"), "\n");
	fputc('\n', f);
}

/* What several have as their reason stands once, behind the last of them. */
static void print_diff_list(FILE *f, const json_t *diff, const struct list *row, bool is_long)
{
	const json_t *list = json_object_get(diff, row->key), *entry;
	const char *topic = NULL;
	size_t n;

	if (json_array_size(list))
		fprintf(f, "\n%s: %zu\n", row->title, json_array_size(list));
	for (size_t i = 0; (entry = json_array_get(list, i)); i += n) {
		size_t alike = is_long ? 1 : diff_alike(list, i, row->is_open ? 2 : SIZE_MAX);

		n = row->is_open ? 1 : alike;
		print_diff_topic(f, entry, &topic);
		print_diff_entry(f, diff, entry, n);
		if (!member_text(entry, "because")[0] || alike > n)
			continue;
		fprintf(f, "      %s", whose_because(entry));
		one_line_print(f, member_text(entry, "because"), "\n");
		fputc('\n', f);
	}
}

static char *fact_text(const json_t *fact, const char *side)
{
	return or_exit(json_text(json_object_get(fact, side), JSON_ENCODE_ANY | JSON_COMPACT));
}

static void print_diff_facts(FILE *f, const json_t *facts)
{
	const json_t *fact;
	size_t i;

	if (json_array_size(facts))
		fprintf(f, "\nFacts: %zu\n", json_array_size(facts));
	json_array_foreach(facts, i, fact) {
		char *a = fact_text(fact, "a"), *b = fact_text(fact, "b");
		json_t *line = json_sprintf("    %s, %s  %s -> %s", member_text(fact, "topic"),
					    member_text(fact, "title"), a, b);

		one_line_print(f, json_string_value(or_exit(line)), "\n");
		fputc('\n', f);
		json_decref(line);
		free(a);
		free(b);
	}
}

void diff_text(const json_t *diff, bool is_long, FILE *f)
{
	print_diff_side(f, "A", json_object_get(diff, "a"));
	print_diff_side(f, "B", json_object_get(diff, "b"));
	put_cases_differ(f, "", diff);
	for (size_t i = 0; i < FACTS; i++)
		print_diff_list(f, diff, &lists[i], is_long);
	print_diff_facts(f, json_object_get(diff, "facts"));
	fputc('\n', f);
	put_counts(f, diff);
	fputc('\n', f);
}

/*
 * Markdown: what is worse stands open, the rest is folded. What comes from a report is text,
 * whatever is in it.
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

/* What one side alone has stands in that side's column. */
static const char *answer_in(const json_t *entry, const char *side, const char *list)
{
	const char *answer = member_text(entry, "answer");

	if (!answer[0])
		return member_text(entry, side);
	return list[strlen(list) - 1] == side[0] ? answer : "";
}

static void mark_row(FILE *f, const json_t *diff, const char *list, const json_t *entry,
		     size_t count)
{
	fputs("| ", f);
	if (count > 1)
		fprintf(f, "%zu %s of ", count, noun(diff, count));
	mark_text(f, member_text(entry, count > 1 ? "topic" : "id"));
	fputs(" | ", f);
	mark_text(f, answer_in(entry, "a", list));
	fputs(" | ", f);
	mark_text(f, answer_in(entry, "b", list));
	fprintf(f, " | %s", whose_because(entry));
	mark_text(f, member_text(entry, "because"));
	fputs(" |\n", f);
}

static void mark_fact(FILE *f, const json_t *fact)
{
	static const char *const sides[] = {"a", "b"};

	fputs("| ", f);
	mark_text(f, member_text(fact, "topic"));
	fputs(", ", f);
	mark_text(f, member_text(fact, "title"));
	for (size_t i = 0; i < 2; i++) {
		char *text = fact_text(fact, sides[i]);

		fputs(" | ", f);
		mark_text(f, text);
		free(text);
	}
	fputs(" |\n", f);
}

static void mark_table(FILE *f, const json_t *diff, const struct list *row, bool is_long)
{
	const json_t *list = json_object_get(diff, row->key), *entry;
	bool is_facts = row == &lists[FACTS];
	size_t n;

	if (!json_array_size(list))
		return;
	fprintf(f, row->is_open ? "\n### %s: %zu\n\n" : "\n<details><summary>%s: %zu</summary>\n\n",
		row->title, json_array_size(list));
	fprintf(f,
		is_facts ? "| fact | A | B |\n|---|---|---|\n"
			 : "| %s | A | B | why |\n|---|---|---|---|\n",
		noun(diff, 1));
	for (size_t i = 0; (entry = json_array_get(list, i)); i += n) {
		n = is_long || row->is_open || is_facts ? 1 : diff_alike(list, i, SIZE_MAX);
		if (is_facts)
			mark_fact(f, entry);
		else
			mark_row(f, diff, row->key, entry, n);
	}
	if (!row->is_open)
		fputs("\n</details>\n", f);
}

static void mark_side(FILE *f, const char *name, const json_t *about)
{
	char text[512];

	name_of_side(about, text, sizeof(text));
	fprintf(f, "- **%s** ", name);
	mark_text(f, text);
	put_end(f, ": ", about);
	fputc('\n', f);
}

void diff_markdown(const json_t *diff, bool is_long, FILE *f)
{
	fputs("**perf_event_open(2): ", f);
	put_counts(f, diff);
	fputs("**\n\n", f);
	mark_side(f, "A", json_object_get(diff, "a"));
	mark_side(f, "B", json_object_get(diff, "b"));
	put_cases_differ(f, "\n", diff);
	for (size_t i = 0; i <= FACTS; i++)
		mark_table(f, diff, &lists[i], is_long);
}
