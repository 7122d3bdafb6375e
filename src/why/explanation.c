/* SPDX-License-Identifier: MIT */
/*
 * The answer as JSON, and for people.
 */
#include "why/why.h"

#include <stdlib.h>
#include <string.h>

#include "text/say.h"

/*
 * As JSON.
 */

static json_t *texts_json(const char *const *texts)
{
	json_t *list = texts ? json_array() : NULL;

	for (; texts && *texts; texts++)
		json_array_append_new(list, json_string(*texts));
	return list;
}

static json_t *flag_json(bool is_set)
{
	return is_set ? json_true() : NULL;
}

static json_t *said_json(enum said said)
{
	return said ? json_boolean(said == SAID_YES) : NULL;
}

static json_t *cause_json(const void *at);

/* Each of `count` structs of `size` bytes; NULL where there is no list. As deep as suspects are
 * below a cause. NOLINTBEGIN(misc-no-recursion) */
static json_t *list_json(const void *list, size_t count, size_t size, json_t *(*one)(const void *))
{
	json_t *json = list ? json_array() : NULL;

	for (size_t i = 0; list && i < count; i++)
		json_array_append_new(json, one((const unsigned char *)list + i * size));
	return json;
}

static json_t *causes_json(const struct cause *causes, size_t count)
{
	return list_json(causes, count, sizeof(*causes), cause_json);
}

static json_t *cause_json(const void *at)
{
	const struct cause *c = at;

	return json_pack("{s:o*, s:s*, s:s*, s:s*, s:s*, s:s*, s:o*, s:s*, s:s*, s:o*}", "opened",
			 said_json(c->opened), "errno", c->err, "check", c->check, "function",
			 c->function, "because", c->because, "instead", c->instead, "or",
			 causes_json(c->others, c->other_count), "foretold", c->predicted,
			 "unknown", c->unknown, "suspects",
			 causes_json(c->suspects, c->suspect_count));
}
/* NOLINTEND(misc-no-recursion) */

/* The members of a cause among others: `first` stands before, `last` (or NULL) behind them. */
static json_t *with_cause(json_t *first, const struct cause *cause, json_t *last)
{
	json_t *json = cause_json(cause);

	json_object_update(first, json);
	json_object_update(first, last);
	json_decref(json);
	json_decref(last);
	return first;
}

static json_t *note_as_json(const void *at)
{
	const struct note *note = at;

	return json_pack("{s:b, s:s*, s:s*, s:o*}", "proven", note->is_proven, "says", note->says,
			 "check", note->check, "useless", flag_json(note->is_useless));
}

static json_t *then_json(const void *at)
{
	const struct then_told *then = at;
	json_t *largest = then->largest < 0 ? NULL : json_integer(then->largest);

	return with_cause(json_pack("{s:s*}", "call", then->call), &then->cause,
			  json_pack("{s:o*}", "largest", largest));
}

static json_t *dead_end_json(const void *at)
{
	const struct dead_end *end = at;

	return with_cause(json_pack("{s:o*}", "do", texts_json(end->does)), &end->cause, NULL);
}

/* What is changed in the call, with what it is then, or around it. */
static json_t *remedy_json(const void *at)
{
	const struct remedy_found *r = at;
	json_t *does = texts_json(r->does), *loses = texts_json(r->loses);

	if (r->call.image)
		return json_pack("{s:o*, s:o*, s:b, s:s*, s:o*, s:s*, s:o*, s:s*}", "do", does,
				 "loses", loses, "tried", r->is_tried, "unsure", r->unsure,
				 "fallback", flag_json(r->is_fallback), "useless", r->useless,
				 "open", setup_open_json(r->names, r->env, &r->call), "as", r->as);
	return json_pack("{s:o*, s:o*, s:s*, s:o*, s:s*, s:b}", "do", does, "loses", loses, "as",
			 r->as, "sysctl",
			 r->sysctl ? json_pack("{s:i}", r->sysctl, r->value) : NULL, "unsure",
			 r->unsure, "tried", r->is_tried);
}

static json_t *counted_json(const struct explanation *x)
{
	const struct counted *c = &x->counted;
	json_t *samples = NULL, *throttled = NULL;

	if (!x->is_counted)
		return NULL;
	if (c->has_samples) {
		samples = json_integer((json_int_t)c->samples);
		throttled = json_integer((json_int_t)c->throttled);
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o*, s:o*}", "value",
			 (json_int_t)c->value, "time_enabled", (json_int_t)c->enabled,
			 "time_running", (json_int_t)c->running, "switches",
			 (json_int_t)c->switches, "page_faults", (json_int_t)c->faults,
			 "system_calls", (json_int_t)c->syscalls, "samples", samples, "throttled",
			 throttled);
}

static json_t *came_json(const struct explanation *x)
{
	json_t *json = x->caller_count ? json_object() : NULL;

	for (size_t i = 0; i < x->caller_count; i++)
		json_object_set_new(json, x->callers[i].as, json_string(x->callers[i].to));
	return json;
}

json_t *explanation_json(const struct explanation *x)
{
	return with_cause(
		json_pack("{s:s*}", "call", x->call), &x->cause,
		json_pack(
			"{s:o*, s:s*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:s*, "
			"s:s*, s:b, s:s*, s:o*, s:O*, s:o*, s:o*}",
			"witnessed", texts_json(x->witnessed), "gate", x->gate, "others",
			list_json(x->others, x->other_count, sizeof(*x->others), note_as_json),
			"counted", counted_json(x), "notes",
			list_json(x->notes, x->note_count, sizeof(*x->notes), note_as_json), "then",
			list_json(x->then, x->then_count, sizeof(*x->then), then_json), "behind",
			causes_json(x->behind, x->behind_count), "dead_ends",
			list_json(x->dead_ends, x->dead_end_count, sizeof(*x->dead_ends),
				  dead_end_json),
			"cut", flag_json(x->is_cut), "changes",
			list_json(x->remedies, x->remedy_count, sizeof(*x->remedies), remedy_json),
			"as", x->as, "caller", x->caller, "tried", x->is_tried, "told", x->told,
			"as_told", said_json(x->as_told), "instead_of", x->instead_of, "behind",
			causes_json(x->behind_others, x->behind_others_count), "callers",
			came_json(x)));
}

json_t *absent_json(const struct absent_answer *absent)
{
	return json_pack("{s:b, s:s*, s:s*, s:s*, s:s*, s:s*, s:o*}", "opened", false, "absent",
			 absent->what, "name", absent->name, "is", absent->says->is, "because",
			 absent->says->because, "instead", absent->says->instead, "there",
			 texts_json(absent->there));
}

/*
 * For people: the call, why, what helps, what else to know.
 */

/* `label` and the text, which is indented behind it; nothing of no text. */
static void write_labelled(const char *label, const char *text, unsigned indent, FILE *f)
{
	if (!text)
		return;
	fprintf(f, "%*s%s", (int)indent, "", label);
	say_wrapped(f, text, indent + (unsigned)strlen(label), indent + (unsigned)strlen(label),
		    SAY_COLUMNS);
}

static const char *or_nothing(const char *text)
{
	return text ? text : "";
}

static void write_cause(const struct cause *cause, unsigned indent, FILE *f)
{
	fprintf(f, "%*s%s%s%s in %s\n", (int)indent, "", or_nothing(cause->err),
		cause->err ? " from " : "", or_nothing(cause->check), or_nothing(cause->function));
	write_labelled("", or_nothing(cause->because), indent + 2, f);
	for (size_t i = 0; i < cause->other_count; i++)
		write_labelled("or ", or_nothing(cause->others[i].because), indent + 2, f);
}

static void write_causes(const struct cause *causes, size_t count, unsigned indent, FILE *f)
{
	for (size_t i = 0; i < count; i++) {
		if (causes[i].check)
			write_cause(&causes[i], indent, f);
		else /* that was not foreseen */
			write_causes(causes[i].suspects, causes[i].suspect_count, indent, f);
		write_labelled("What to do: ", causes[i].instead, indent + 2, f);
	}
}

/* Where the model cannot tell: what can be the cause comes first, and why it is not certain last.
 */
static void write_uncertain(const struct explanation *x, FILE *f)
{
	const struct cause *cause = &x->cause;

	if (!cause->suspects) {
		fputs("\nperfabi cannot predict this:\n", f);
	} else {
		fputs(x->told ? "\nThe cause can be:\n" : "\nIf it is refused, the cause can be:\n",
		      f);
		write_causes(cause->suspects, cause->suspect_count, 2, f);
		if (cause->unknown)
			fputs("Only the kernel can tell for certain:\n", f);
	}
	write_labelled("", cause->unknown, 2, f);
}

static void write_refusal(const struct explanation *x, FILE *f)
{
	const struct cause *cause = &x->cause;

	fprintf(f, "\nRefused%s%s%s:\n", x->is_tried ? "" : ", by the model",
		x->gate ? ", at the gate " : "", or_nothing(x->gate));
	if (cause->check) {
		write_cause(cause, 2, f);
		/* It is not enough where others refuse the call behind it. */
		write_labelled(!x->behind && !x->behind_others && !x->dead_ends
				       ? "What to do: "
				       : "To pass this check: ",
			       cause->instead, 4, f);
	}
	write_labelled("", cause->unknown, 2, f);
}

/* Several texts, NULL behind the last, with `between` between them, as say_wrapped() prints one. */
static void say_joined(FILE *f, const char *const texts[], const char *between, unsigned indent)
{
	char *all = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&all, &size);

	for (size_t i = 0; out && texts[i]; i++)
		fprintf(out, "%s%s", i ? between : "", texts[i]);
	if (out && !fclose(out))
		say_wrapped(f, all, indent, indent, SAY_COLUMNS);
	free(all);
}

static void write_remedies(const struct explanation *x, FILE *f)
{
	if (x->dead_end_count)
		fputs("\nThis alone does not help:\n", f);
	for (size_t i = 0; i < x->dead_end_count; i++) {
		fputs("  - ", f);
		say_joined(f, x->dead_ends[i].does, "; ", 4);
		write_cause(&x->dead_ends[i].cause, 4, f);
	}
	if (!x->remedy_count)
		fprintf(f, "\nNo change that perfabi knows opens it%s.\n",
			x->is_cut     ? ", of those that it tried in two seconds"
			: x->is_tried ? "; each was tried"
				      : ", by the model");
	else
		fprintf(f, "\nIt opens%s if you do one of these:\n",
			x->is_tried ? "" : ", by the model,");
	for (size_t i = 0; i < x->remedy_count; i++) {
		const struct remedy_found *remedy = &x->remedies[i];

		fprintf(f, "  %zu. ", i + 1);
		say_joined(f, remedy->does, "; ", 5);
		if (remedy->loses[0]) {
			fputs("     You lose ", f);
			say_joined(f, remedy->loses, "; ", 14);
		}
		if (remedy->unsure) {
			const char *const unsure[] = {"Whether it opens then is not known",
						      remedy->unsure, NULL};

			fprintf(f, "%5s", "");
			say_joined(f, unsure, ": ", 5);
		} else if (x->is_tried && !remedy->is_tried) {
			fputs("     By the model: perfabi could not try it here.\n", f);
		}
		write_labelled("But ", remedy->useless, 5, f);
	}
}

static void write_callers(const struct explanation *x, FILE *f)
{
	const struct came *last = x->caller_count ? &x->callers[x->caller_count - 1] : NULL;

	for (size_t i = 0; i < x->caller_count; i++)
		if (!strcmp(x->callers[i].to, "opens") || !strcmp(x->callers[i].to, "unknown"))
			return;
	if (last)
		fprintf(f, "\nNo privilege helps by itself: as %s it gives %s.\n", last->as,
			last->to);
}

static void write_notes(const struct note *notes, size_t count, const char *heading, FILE *f)
{
	if (count)
		fprintf(f, "\n%s\n", heading);
	for (size_t i = 0; i < count; i++)
		write_labelled("- ", notes[i].says, 2, f);
}

static void write_counted(const struct counted *c, FILE *f)
{
	fprintf(f, "\nCounted here for a moment: %lld, in %.1f of %.1f ms", (long long)c->value,
		(double)c->running / 1e6, (double)c->enabled / 1e6);
	if (c->has_samples)
		fprintf(f, "; %lld sample%s", (long long)c->samples, c->samples == 1 ? "" : "s");
	fputs(".\n", f);
}

void explanation_write(const struct explanation *x, FILE *f)
{
	const struct cause *cause = &x->cause;

	fprintf(f, "%s\nby %s\n", x->call, x->caller);
	for (size_t i = 0; i < json_array_size(x->instead_of); i++)
		say_wrapped(f, json_string_value(json_array_get(x->instead_of, i)), 0, 0,
			    SAY_COLUMNS);
	if (x->as_told == SAID_NO)
		fprintf(f, "Elsewhere it %s%s; %s it %s%s.\n",
			strcmp(x->told, "ok") ? "gave " : "opened",
			strcmp(x->told, "ok") ? x->told : "", x->is_tried ? "here" : "by the model",
			cause->opened == SAID_YES ? "opens" : "gives ", or_nothing(cause->err));
	/* The kernel and the model disagree: one of them is wrong. */
	if (cause->predicted)
		fprintf(f,
			"\nThe model predicted %s: either this kernel or cases/checks.json is "
			"wrong.\n",
			strcmp(cause->predicted, "ok") ? cause->predicted : "that it opens");
	if (cause->opened == SAID_NO)
		write_refusal(x, f);
	else if (cause->opened == UNSAID && !x->notes)
		write_uncertain(x, f);
	if (cause->opened != UNSAID && cause->suspects) {
		if (cause->check || cause->opened == SAID_YES)
			say(f, "Where it gave %s, the cause can be:\n", x->told);
		else
			fputs("The cause can be:\n", f);
		write_causes(cause->suspects, cause->suspect_count, 2, f);
	}
	if (x->behind_count || x->behind_others_count)
		fputs("Behind that:\n", f);
	write_causes(x->behind, x->behind_count, 2, f);
	write_causes(x->behind_others, x->behind_others_count, 2, f);
	if (cause->opened == SAID_NO && x->remedies)
		write_remedies(x, f);
	write_callers(x, f);
	write_notes(x->notes, x->note_count,
		    cause->opened == SAID_YES ? "It opens, but note:"
		    : x->told                 ? "It opened there. What may be, all the same:"
					      : "If it opens, note:",
		    f);
	if (x->is_counted)
		write_counted(&x->counted, f);
	for (size_t i = 0; i < x->then_count; i++) {
		const struct then_told *then = &x->then[i];

		fprintf(f, "\n%s%s%s\n", then->call, then->cause.err ? " = -1 " : " succeeds",
			or_nothing(then->cause.err));
		write_causes(then->cause.suspects, then->cause.suspect_count, 2, f);
		if (then->largest > 0)
			fprintf(f, "  At most 1 + %lld pages can be mapped now.\n",
				(long long)then->largest);
	}
	write_notes(x->others, x->other_count, "Who else could help:", f);
}

void absent_write(const struct absent_answer *absent, FILE *f)
{
	fprintf(f, "%s: %s\n", absent->name, absent->says->is);
	write_labelled("", absent->says->because, 2, f);
	write_labelled("What to do: ", absent->says->instead, 2, f);
	if (absent->there && absent->there[0]) {
		fputs("  There are: ", f);
		say_joined(f, absent->there, ", ", 13);
	}
}
