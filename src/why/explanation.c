/* SPDX-License-Identifier: MIT */
/*
 * The answer as JSON, by a row for each member, and for people.
 */
#include "why/explanation.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "text/json_text.h"
#include "text/row.h"
#include "text/say.h"

enum { POOL_SIZE = 16 << 20, POOL_ALIGN = 16 };

struct pool {
	size_t used; /* of the whole, this included */
};

struct pool *pool_new(void)
{
	struct pool *pool = mmap(NULL, POOL_SIZE, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pool == MAP_FAILED)
		return NULL;
	pool->used = POOL_ALIGN;
	return pool;
}

void pool_free(struct pool *pool)
{
	if (pool)
		munmap(pool, POOL_SIZE);
}

void *pool_take(struct pool *pool, size_t count, size_t size)
{
	size_t room = POOL_SIZE - pool->used;
	unsigned char *at = (unsigned char *)pool + pool->used;

	if (size && count > room / size) {
		say(stderr, "perfabi why: the answer is too long\n");
		_exit(EXIT_NO_MEMORY);
	}
	room -= count * size;
	pool->used = POOL_SIZE - room / POOL_ALIGN * POOL_ALIGN;
	return at;
}

const char *pool_print(struct pool *pool, const char *format, ...)
{
	va_list args, again;
	char *text;
	int n;

	va_start(args, format);
	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	text = pool_take(pool, (size_t)(n > 0 ? n : 0) + 1, 1);
	vsnprintf(text, (size_t)(n > 0 ? n : 0) + 1, format, again);
	va_end(again);
	va_end(args);
	return text;
}

/*
 * As JSON.
 */

struct member_row {
	const char *key;
	enum {
		TEXT,   /* const char *, left out if it is NULL */
		TEXTS,  /* const char **, which ends with NULL; left out as a TEXT */
		NUMBER, /* int64_t, left out below 0 */
		TRUTH,  /* bool */
		FLAG,   /* the same, left out if it is false */
		SAID,   /* enum said */
		JSON,   /* const json_t *, left out as a TEXT */
		LIST,   /* a pointer to structs, left out if it is NULL */
		PARTS,  /* the members of a struct */
		MADE    /* by `make`, left out if that is NULL */
	} kind;
	size_t at;
	const struct member_row *of; /* of a LIST and of PARTS */
	size_t count, size;          /* of a LIST: where its length is, and bytes of each */
	json_t *(*make)(const void *at);
};

static json_t *texts_json(const char *const *texts)
{
	json_t *list = json_array();

	for (; *texts; texts++)
		json_array_append_new(list, json_string(*texts));
	return list;
}

/* As deep as the rows, and a cause among the suspects of another. NOLINTBEGIN(misc-no-recursion) */
static void put_members(json_t *json, const struct member_row *row, const unsigned char *from)
{
	for (; row->key; row++) {
		const void *at = from + row->at, *list;
		json_t *one = NULL, *element;
		size_t count;

		switch (row->kind) {
		case TEXT:
			memcpy(&list, at, sizeof(list));
			one = list ? json_string(list) : NULL;
			break;
		case TEXTS:
			memcpy(&list, at, sizeof(list));
			one = list ? texts_json(list) : NULL;
			break;
		case NUMBER:
			if (*(const int64_t *)at >= 0)
				one = json_integer(*(const int64_t *)at);
			break;
		case TRUTH:
		case FLAG:
			if (row->kind == TRUTH || *(const bool *)at)
				one = json_boolean(*(const bool *)at);
			break;
		case SAID:
			if (*(const enum said *)at)
				one = json_boolean(*(const enum said *)at == SAID_YES);
			break;
		case JSON:
			memcpy(&list, at, sizeof(list));
			one = json_incref((json_t *)list);
			break;
		case LIST:
			memcpy(&list, at, sizeof(list));
			memcpy(&count, from + row->count, sizeof(count));
			one = list ? json_array() : NULL;
			for (size_t i = 0; list && i < count; i++) {
				element = json_object();
				put_members(element, row->of,
					    (const unsigned char *)list + i * row->size);
				json_array_append_new(one, element);
			}
			break;
		case PARTS:
			put_members(json, row->of, at);
			break;
		case MADE:
			one = row->make(at);
		}
		if (one)
			json_object_set_new(json, row->key, one);
	}
}
/* NOLINTEND(misc-no-recursion) */

#define LIST_OF(key_, struct_, list_, count_, rows_)                                               \
	{                                                                                          \
		key_, LIST, AT(struct_, list_), .of = (rows_), .count = offsetof(struct_, count_), \
						.size = sizeof(*((struct_ *)NULL)->list_)          \
	}

static const struct member_row others_rows[] = {{"because", TEXT, AT(struct cause, because)},
						{"instead", TEXT, AT(struct cause, instead)},
						{0}};

static const struct member_row cause_rows[] = {
	{"opened", SAID, AT(struct cause, opened)},
	{"errno", TEXT, AT(struct cause, err)},
	{"check", TEXT, AT(struct cause, check)},
	{"function", TEXT, AT(struct cause, function)},
	{"because", TEXT, AT(struct cause, because)},
	{"instead", TEXT, AT(struct cause, instead)},
	LIST_OF("or", struct cause, others, other_count, others_rows),
	{"foretold", TEXT, AT(struct cause, predicted)},
	{"unknown", TEXT, AT(struct cause, unknown)},
	LIST_OF("suspects", struct cause, suspects, suspect_count, cause_rows),
	{0}};

static const struct member_row note_rows[] = {{"proven", TRUTH, AT(struct note, is_proven)},
					      {"says", TEXT, AT(struct note, says)},
					      {"check", TEXT, AT(struct note, check)},
					      {"useless", FLAG, AT(struct note, is_useless)},
					      {0}};

static const struct member_row then_rows[] = {
	{"call", TEXT, AT(struct then_told, call)},
	{"", PARTS, AT(struct then_told, cause), .of = cause_rows},
	{"largest", NUMBER, AT(struct then_told, largest)},
	{0}};

static const struct member_row dead_end_rows[] = {
	{"do", TEXTS, AT(struct dead_end, does)},
	{"", PARTS, AT(struct dead_end, cause), .of = cause_rows},
	{0}};

/* The call once it is changed, with what stands around it by its name. */
static json_t *changed_json(const void *at)
{
	const struct remedy_found *remedy = at;

	return stage_open_json(remedy->things, remedy->env, &remedy->call);
}

static json_t *sysctl_json(const void *at)
{
	const struct remedy_found *remedy = at;

	return remedy->sysctl ? json_pack("{s:i}", remedy->sysctl, remedy->value) : NULL;
}

/* What is changed in the call, and what is changed around it. */
static const struct member_row changed_rows[] = {
	{"do", TEXTS, AT(struct remedy_found, does)},
	{"loses", TEXTS, AT(struct remedy_found, loses)},
	{"tried", TRUTH, AT(struct remedy_found, is_tried)},
	{"unsure", TEXT, AT(struct remedy_found, unsure)},
	{"fallback", FLAG, AT(struct remedy_found, is_fallback)},
	{"useless", TEXT, AT(struct remedy_found, useless)},
	{"open", MADE, .make = changed_json},
	{"as", TEXT, AT(struct remedy_found, as)},
	{0}};

static const struct member_row surroundings_rows[] = {
	{"do", TEXTS, AT(struct remedy_found, does)},
	{"loses", TEXTS, AT(struct remedy_found, loses)},
	{"as", TEXT, AT(struct remedy_found, as)},
	{"sysctl", MADE, .make = sysctl_json},
	{"unsure", TEXT, AT(struct remedy_found, unsure)},
	{"tried", TRUTH, AT(struct remedy_found, is_tried)},
	{0}};

static json_t *remedies_json(const void *at)
{
	const struct explanation *x = at;
	json_t *list = x->remedies ? json_array() : NULL, *one;

	for (size_t i = 0; i < x->remedy_count; i++) {
		const struct remedy_found *remedy = &x->remedies[i];

		one = json_object();
		put_members(one, remedy->call.image ? changed_rows : surroundings_rows,
			    (const unsigned char *)remedy);
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *counted_json(const void *at)
{
	const struct explanation *x = at;
	const struct counted *c = &x->counted;
	json_t *json;

	if (!x->is_counted)
		return NULL;
	json = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "value", (json_int_t)c->value, "time_enabled",
			 (json_int_t)c->enabled, "time_running", (json_int_t)c->running, "switches",
			 (json_int_t)c->switches, "page_faults", (json_int_t)c->faults,
			 "system_calls", (json_int_t)c->syscalls);
	if (c->has_samples) {
		json_object_set_new(json, "samples", json_integer((json_int_t)c->samples));
		json_object_set_new(json, "throttled", json_integer((json_int_t)c->throttled));
	}
	return json;
}

static json_t *came_json(const void *at)
{
	const struct explanation *x = at;
	json_t *json = x->caller_count ? json_object() : NULL;

	for (size_t i = 0; i < x->caller_count; i++)
		json_object_set_new(json, x->callers[i].as, json_string(x->callers[i].to));
	return json;
}

static const struct member_row rows[] = {
	{"call", TEXT, AT(struct explanation, call)},
	{"", PARTS, AT(struct explanation, cause), .of = cause_rows},
	{"witnessed", TEXTS, AT(struct explanation, witnessed)},
	{"gate", TEXT, AT(struct explanation, gate)},
	LIST_OF("others", struct explanation, others, other_count, note_rows),
	{"counted", MADE, .make = counted_json},
	LIST_OF("notes", struct explanation, notes, note_count, note_rows),
	LIST_OF("then", struct explanation, then, then_count, then_rows),
	LIST_OF("behind", struct explanation, behind, behind_count, cause_rows),
	LIST_OF("dead_ends", struct explanation, dead_ends, dead_end_count, dead_end_rows),
	{"cut", FLAG, AT(struct explanation, is_cut)},
	{"changes", MADE, .make = remedies_json},
	{"as", TEXT, AT(struct explanation, as)},
	{"caller", TEXT, AT(struct explanation, caller)},
	{"tried", TRUTH, AT(struct explanation, is_tried)},
	{"told", TEXT, AT(struct explanation, told)},
	{"as_told", SAID, AT(struct explanation, as_told)},
	{"instead_of", JSON, AT(struct explanation, instead_of)},
	LIST_OF("behind", struct explanation, behind_others, behind_others_count, cause_rows),
	{"callers", MADE, .make = came_json},
	{0}};

json_t *explanation_json(const struct explanation *x)
{
	json_t *json = json_object();

	put_members(json, rows, (const unsigned char *)x);
	return json;
}

static const struct member_row absent_rows[] = {
	{"absent", TEXT, AT(struct absent_answer, what)},
	{"name", TEXT, AT(struct absent_answer, name)},
	{"is", TEXT, AT(struct absent_answer, is)},
	{"because", TEXT, AT(struct absent_answer, because)},
	{"instead", TEXT, AT(struct absent_answer, instead)},
	{"there", TEXTS, AT(struct absent_answer, there)},
	{0}};

json_t *absent_json(const struct absent_answer *absent)
{
	json_t *json = json_pack("{s:b}", "opened", false);

	put_members(json, absent_rows, (const unsigned char *)absent);
	return json;
}

/*
 * For people: the call, why, what helps, what else to know.
 */

static void write_joined(const char *const *texts, const char *between, unsigned indent, FILE *f)
{
	json_t *all = json_string("");

	for (size_t i = 0; texts[i]; i++) {
		json_t *more =
			json_sprintf("%s%s%s", json_string_value(all), i ? between : "", texts[i]);

		json_decref(all);
		all = more;
	}
	say_wrapped(f, json_string_value(all), indent, indent, SAY_COLUMNS);
	json_decref(all);
}

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
		write_cause(&causes[i], indent, f);
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
	if (cause->suspects) {
		fputs("The cause can be:\n", f);
		write_causes(cause->suspects, cause->suspect_count, 2, f);
	}
}

static void write_remedy(const struct explanation *x, size_t i, FILE *f)
{
	const struct remedy_found *remedy = &x->remedies[i];

	fprintf(f, "  %zu. ", i + 1);
	write_joined(remedy->does, "; ", 5, f);
	if (remedy->loses[0]) {
		fputs("     You lose ", f);
		write_joined(remedy->loses, "; ", 14, f);
	}
	if (remedy->unsure) {
		json_t *text =
			json_sprintf("Whether it opens then is not known: %s", remedy->unsure);

		write_labelled("", json_string_value(text), 5, f);
		json_decref(text);
	} else if (x->is_tried && !remedy->is_tried) {
		fputs("     By the model: perfabi could not try it here.\n", f);
	}
	write_labelled("But ", remedy->useless, 5, f);
}

static void write_remedies(const struct explanation *x, FILE *f)
{
	if (x->dead_end_count)
		fputs("\nThis alone does not help:\n", f);
	for (size_t i = 0; i < x->dead_end_count; i++) {
		fputs("  - ", f);
		write_joined(x->dead_ends[i].does, "; ", 4, f);
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
	for (size_t i = 0; i < x->remedy_count; i++)
		write_remedy(x, i, f);
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

		fprintf(f, "\n%s%s%s\n", then->call, then->cause.err ? " = -1 " : "",
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
	fprintf(f, "%s: %s\n", absent->name, absent->is);
	write_labelled("", absent->because, 2, f);
	write_labelled("What to do: ", absent->instead, 2, f);
	if (absent->there && absent->there[0]) {
		fputs("  There are: ", f);
		write_joined(absent->there, ", ", 13, f);
	}
}
