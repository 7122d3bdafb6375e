/* SPDX-License-Identifier: MIT */
/*
 * The answer for people: the call, why, what helps, what else to know.
 */
#include <string.h>

#include "language/wrap.h"
#include "why/why.h"
#include "text/json_text.h"

static bool is_true(const json_t *json, const char *key)
{
	return json_is_true(json_object_get(json, key));
}

static void write_joined(const json_t *texts, const char *between, unsigned indent, FILE *f)
{
	json_t *text, *all = json_string("");
	size_t i;

	json_array_foreach(texts, i, text) {
		json_t *more = json_sprintf("%s%s%s", json_string_value(all), i ? between : "",
					    json_string_value(text));

		json_decref(all);
		all = more;
	}
	text_wrap(json_string_value(all), indent, f);
	json_decref(all);
}

static void write_or(const json_t *others, unsigned indent, FILE *f)
{
	json_t *one;
	size_t i;

	json_array_foreach(others, i, one) {
		fprintf(f, "%*sor ", (int)indent, "");
		text_wrap(member_text(one, "because"), indent + 3, f);
	}
}

static void write_cause(const json_t *json, unsigned indent, FILE *f)
{
	char head[128];

	snprintf(head, sizeof(head), "%s%s%s", member_text(json, "errno"),
		 member_text(json, "errno")[0] ? " from " : "", member_text(json, "check"));
	fprintf(f, "%*s%s in %s\n%*s", (int)indent, "", head, member_text(json, "function"),
		(int)indent + 2, "");
	text_wrap(member_text(json, "because"), indent + 2, f);
	write_or(json_object_get(json, "or"), indent + 2, f);
}

/* What the check says to do, which is not enough where others refuse the call behind it. */
static void write_instead(const json_t *json, bool is_enough, unsigned indent, FILE *f)
{
	const char *label = is_enough ? "What to do: " : "To pass this check: ";

	if (!member_text(json, "instead")[0])
		return;
	fprintf(f, "%*s%s", (int)indent, "", label);
	text_wrap(member_text(json, "instead"), indent + (unsigned)strlen(label), f);
}

static void write_suspects(const json_t *suspects, unsigned indent, FILE *f)
{
	json_t *one;
	size_t i;

	json_array_foreach(suspects, i, one) {
		write_cause(one, indent, f);
		write_instead(one, true, indent + 2, f);
	}
}

static void write_unknown(const json_t *answer, FILE *f)
{
	if (!member_text(answer, "unknown")[0])
		return;
	fputs("  ", f);
	text_wrap(member_text(answer, "unknown"), 2, f);
}

/* Where the model cannot tell: what can be the cause comes first, and why it is not certain last.
 */
static void write_uncertain(const json_t *answer, FILE *f)
{
	const json_t *suspects = json_object_get(answer, "suspects");

	if (!suspects) {
		fputs("\nNobody can tell but the kernel:\n", f);
		write_unknown(answer, f);
		return;
	}
	fputs(member_text(answer, "told")[0] ? "\nThe cause can be:\n"
					     : "\nIf it is refused, the cause can be:\n",
	      f);
	write_suspects(suspects, 2, f);
	if (member_text(answer, "unknown")[0])
		fputs("Only the kernel can tell for certain:\n", f);
	write_unknown(answer, f);
}

static void write_refusal(const json_t *answer, FILE *f)
{
	const char *gate = member_text(answer, "gate");

	if (!json_object_get(answer, "opened")) {
		write_uncertain(answer, f);
		return;
	}
	fprintf(f, "\nRefused%s%s%s:\n", is_true(answer, "tried") ? "" : ", by the model",
		*gate ? ", at the gate " : "", gate);
	if (member_text(answer, "check")[0]) {
		write_cause(answer, 2, f);
		write_instead(answer,
			      !json_object_get(answer, "behind") &&
				      !json_object_get(answer, "dead_ends"),
			      4, f);
	}
	write_unknown(answer, f);
	if (json_object_get(answer, "suspects")) {
		fputs("The cause can be:\n", f);
		write_suspects(json_object_get(answer, "suspects"), 2, f);
	}
}

static void write_behind(const json_t *behind, FILE *f)
{
	if (!json_array_size(behind))
		return;
	fputs("Behind that:\n", f);
	write_suspects(behind, 2, f);
}

static void write_unsure(const char *why, FILE *f)
{
	json_t *text = json_sprintf("Whether it opens then is not known: %s", why);

	fputs("     ", f);
	text_wrap(json_string_value(text), 5, f);
	json_decref(text);
}

static void write_change(const json_t *change, size_t number, bool were_tried, FILE *f)
{
	const json_t *loses = json_object_get(change, "loses");

	fprintf(f, "  %zu. ", number);
	write_joined(json_object_get(change, "do"), "; ", 5, f);
	if (json_array_size(loses)) {
		fputs("     You lose ", f);
		write_joined(loses, "; ", 14, f);
	}
	if (member_text(change, "unsure")[0]) {
		write_unsure(member_text(change, "unsure"), f);
	} else if (were_tried && !is_true(change, "tried"))
		fputs("     By the model: perfabi could not try it here.\n", f);
	if (member_text(change, "useless")[0]) {
		fputs("     But ", f);
		text_wrap(member_text(change, "useless"), 9, f);
	}
}

static void write_dead_ends(const json_t *ends, FILE *f)
{
	json_t *one;
	size_t i;

	if (!json_array_size(ends))
		return;
	fputs("\nThis alone does not help:\n", f);
	json_array_foreach(ends, i, one) {
		fputs("  - ", f);
		write_joined(json_object_get(one, "do"), "; ", 4, f);
		write_cause(one, 4, f);
	}
}

static void write_changes(const json_t *answer, FILE *f)
{
	const json_t *changes = json_object_get(answer, "changes");
	json_t *change;
	size_t i;

	if (!changes)
		return;
	write_dead_ends(json_object_get(answer, "dead_ends"), f);
	if (!json_array_size(changes)) {
		fprintf(f, "\nNo change that perfabi knows opens it%s.\n",
			is_true(answer, "cut")     ? ", of those that it tried in two seconds"
			: is_true(answer, "tried") ? "; each was tried"
						   : ", by the model");
		return;
	}
	fprintf(f, "\nIt opens%s if you do one of these:\n",
		is_true(answer, "tried") ? "" : ", by the model,");
	json_array_foreach(changes, i, change)
		write_change(change, i + 1, is_true(answer, "tried"), f);
}

static void write_callers(const json_t *callers, FILE *f)
{
	const char *name, *only = NULL;
	json_t *came;

	json_object_foreach((json_t *)callers, name, came) {
		if (!strcmp(json_string_value(came), "opens") ||
		    !strcmp(json_string_value(came), "unknown"))
			return;
		only = name;
	}
	if (only)
		fprintf(f, "\nNo privilege helps by itself: as %s it gives %s.\n", only,
			member_text(callers, only));
}

static void write_remarks(const json_t *remarks, const char *heading, FILE *f)
{
	json_t *one;
	size_t i;

	if (!json_array_size(remarks))
		return;
	fprintf(f, "\n%s\n", heading);
	json_array_foreach(remarks, i, one) {
		fputs("  - ", f);
		text_wrap(member_text(one, "says"), 4, f);
	}
}

static void write_counted(const json_t *counted, FILE *f)
{
	json_int_t value = json_integer_value(json_object_get(counted, "value"));
	json_int_t samples = json_integer_value(json_object_get(counted, "samples"));

	if (!counted)
		return;
	fprintf(f, "\nCounted here for a moment: %lld, in %.1f of %.1f ms", (long long)value,
		(double)json_integer_value(json_object_get(counted, "time_running")) / 1e6,
		(double)json_integer_value(json_object_get(counted, "time_enabled")) / 1e6);
	if (json_object_get(counted, "samples"))
		fprintf(f, "; %lld sample%s", (long long)samples, samples == 1 ? "" : "s");
	fputs(".\n", f);
}

static void write_then(const json_t *then, FILE *f)
{
	json_t *one;
	size_t i;

	json_array_foreach(then, i, one) {
		const char *err = member_text(one, "errno");

		fprintf(f, "\n%s%s%s\n", member_text(one, "call"), *err ? " = -1 " : "", err);
		write_suspects(json_object_get(one, "suspects"), 2, f);
		if (json_integer_value(json_object_get(one, "largest")))
			fprintf(f, "  At most 1 + %lld pages can be mapped now.\n",
				(long long)json_integer_value(json_object_get(one, "largest")));
	}
}

/* What of a pasted call is another here. */
static void write_substitutes(const json_t *notes, FILE *f)
{
	json_t *note;
	size_t i;

	json_array_foreach(notes, i, note)
		text_wrap(json_string_value(note), 0, f);
}

static void write_told(const json_t *answer, FILE *f)
{
	if (!json_is_false(json_object_get(answer, "as_told")))
		return;
	fprintf(f, "Elsewhere it %s%s; %s it %s%s.\n",
		strcmp(member_text(answer, "told"), "ok") ? "gave " : "opened",
		strcmp(member_text(answer, "told"), "ok") ? member_text(answer, "told") : "",
		is_true(answer, "tried") ? "here" : "by the model",
		is_true(answer, "opened") ? "opens" : "gives ", member_text(answer, "errno"));
}

/* The kernel and the model disagree: one of them is wrong. */
static void write_foretold(const json_t *answer, FILE *f)
{
	const char *foretold = member_text(answer, "foretold");

	if (!*foretold)
		return;
	fprintf(f, "\nThe model foretold %s: either this kernel or cases/checks.json is wrong.\n",
		strcmp(foretold, "ok") ? foretold : "that it opens");
}

static void write_absent(const json_t *answer, FILE *f)
{
	const json_t *there = json_object_get(answer, "there");

	fprintf(f, "%s: %s\n  ", member_text(answer, "name"), member_text(answer, "is"));
	text_wrap(member_text(answer, "because"), 2, f);
	write_instead(answer, true, 2, f);
	if (!json_array_size(there))
		return;
	fputs("  There are: ", f);
	write_joined(there, ", ", 13, f);
}

void why_write(const json_t *answer, FILE *f)
{
	if (json_object_get(answer, "absent")) {
		write_absent(answer, f);
		return;
	}
	fprintf(f, "%s\nby %s\n", member_text(answer, "call"), member_text(answer, "caller"));
	write_substitutes(json_object_get(answer, "instead_of"), f);
	write_told(answer, f);
	write_foretold(answer, f);
	if (!is_true(answer, "opened") && !json_object_get(answer, "notes"))
		write_refusal(answer, f);
	write_behind(json_object_get(answer, "behind"), f);
	if (json_is_false(json_object_get(answer, "opened")))
		write_changes(answer, f);
	write_callers(json_object_get(answer, "callers"), f);
	write_remarks(json_object_get(answer, "notes"),
		      is_true(answer, "opened") ? "It opens, but note:"
		      : member_text(answer, "told")[0]
			      ? "It opened there. What may be, all the same:"
			      : "If it opens, note:",
		      f);
	write_counted(json_object_get(answer, "counted"), f);
	write_then(json_object_get(answer, "then"), f);
	write_remarks(json_object_get(answer, "others"), "Who else could help:", f);
}
