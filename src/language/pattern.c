/* SPDX-License-Identifier: MIT */
/*
 * Matching, and mutating. The recursion is as deep as the pattern's JSON.
 */
#include "language/pattern.h"
#include "text/json_text.h"

#include <endian.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "language/merge.h"

/* One match on its way: of `got`, NULL where there is nothing. */
struct match {
	struct scope *scope;
	struct verdict *why;     /* NULL: whether it fits is all that matters here */
	struct verdict *unknown; /* who is told of a name that stands for nothing, or NULL */
	char path[96];
};

static bool fits(struct match *m, const struct pattern *p, const json_t *got);

int value_compare(const struct value *a, const struct value *b)
{
	if (a->negative != b->negative)
		return a->negative ? -1 : 1;
	return a->bits < b->bits ? -1 : a->bits > b->bits;
}

/* An error of the case, not a misfit, where it is beyond 64 bits. */
static int evaluate(const struct match *m, const json_t *json, struct value *out)
{
	struct vars vars = scope_vars(m->scope);
	struct where nowhere = {0};
	struct error e = {0};
	int err = json ? value_eval(json, NULL, &vars, &nowhere, out, &e) : -EINVAL;

	if (err == -ERANGE && m->unknown && m->unknown->outcome != ERROR)
		verdict_set(m->unknown, ERROR, e.expected, e.got);
	return err;
}

/* A name that stands for nothing fits nothing, and nothing that is `not` that means anything. */
static void note_unknown(struct match *m, const json_t *value_text)
{
	const char *text = json_string_value(value_text);
	char expanded[1024];
	struct value value;

	if (m->unknown && m->unknown->outcome != ERROR && text &&
	    !(*text == '$' && scope_json(m->scope, text + 1)) &&
	    scope_expand(m->scope, text, expanded, sizeof(expanded)) == -ENOENT &&
	    evaluate(m, value_text,
		     &value)) /* it knows more names: $tracepoint.sched:sched_switch */
		verdict_set(m->unknown, ERROR, "names in expect that have a value", text);
}

/* A value of what was read: a number, or "0x..." for one that is no count. */
static bool number_read(const json_t *got, struct value *out)
{
	const char *text = json_string_value(got);
	char *end;

	*out = (struct value){.known = true};
	if (json_is_integer(got)) {
		*out = value_of_s64(json_integer_value(got));
		return true;
	}
	if (!text || strncmp(text, "0x", 2))
		return false;
	out->bits = strtoull(text, &end, 16);
	return !*end;
}

/* Both as numbers: what was read, and the operand. */
static bool numbers(struct match *m, const json_t *operand, const json_t *got, struct value *a,
		    struct value *b)
{
	if (!number_read(got, a))
		return false;
	if (!evaluate(m, operand, b))
		return true;
	note_unknown(m, operand);
	return false;
}

static bool op_compare(struct match *m, const struct pattern *p, const json_t *got)
{
	struct value a, b;
	int order;

	if (!numbers(m, p->parts[0].json, got, &a, &b))
		return false;
	order = value_compare(&a, &b);
	return p->op->way & (order < 0 ? LESS : order ? GREATER : EQUAL);
}

static bool op_between(struct match *m, const struct pattern *p, const json_t *got)
{
	struct value value, lowest, highest;

	return numbers(m, p->parts[0].json, got, &value, &lowest) &&
	       numbers(m, p->parts[1].json, got, &value, &highest) &&
	       value_compare(&value, &lowest) >= 0 && value_compare(&value, &highest) <= 0;
}

static bool lists(const json_t *list, const char *name)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
		if (json_is_string(item) && !strcmp(json_string_value(item), name))
			return true;
	return false;
}

/* Counts the operand's names, and those of them that the list has. False: they are no names. */
static bool names(const json_t *operand, const json_t *got, uint64_t *have, uint64_t *want)
{
	*have = 0;
	*want = elements(operand);
	for (size_t i = 0; i < *want; i++) {
		const char *name = json_string_value(element(operand, i));

		if (!name)
			return false;
		*have += lists(got, name);
	}
	return true;
}

/* Of the bits or names of a value those of the operand: all, none, or no others. */
static bool op_bits(struct match *m, const struct pattern *p, const json_t *got)
{
	struct value a, b;
	uint64_t all, have, want;

	if (json_is_array(got)) {
		if (!names(p->json, got, &have, &want))
			return false;
		all = json_array_size(got);
	} else {
		if (!numbers(m, p->json, got, &a, &b))
			return false;
		all = a.bits;
		have = a.bits & b.bits;
		want = b.bits;
	}
	return p->op->way == BITS_ALL    ? have == want
	       : p->op->way == BITS_NONE ? !have
					 : have == all;
}

/* A try whose failure is not the whole's. */
static bool would_fit(struct match *m, const struct pattern *p, const json_t *got)
{
	struct match quiet = {.scope = m->scope, .unknown = m->unknown};

	return fits(&quiet, p, got);
}

static bool op_not(struct match *m, const struct pattern *p, const json_t *got)
{
	return !would_fit(m, p->parts, got);
}

static bool op_ne(struct match *m, const struct pattern *p, const json_t *got)
{
	return got && !would_fit(m, p->parts, got);
}

static bool op_absent(struct match *m, const struct pattern *p, const json_t *got)
{
	(void)m;
	return json_is_true(p->json) == !got;
}

static bool op_bind(struct match *m, const struct pattern *p, const json_t *got)
{
	const char *name = json_string_value(p->json);

	if (!got)
		return false;
	if (json_is_integer(got) && json_integer_value(got) >= 0)
		return !scope_bind(m->scope, name, (uint64_t)json_integer_value(got));
	return !scope_bind_json(m->scope, name, (json_t *)got);
}

static bool op_like(struct match *m, const struct pattern *p, const json_t *got)
{
	const char *text = json_string_value(got);
	char glob[512];

	return text && !scope_expand(m->scope, json_string_value(p->json), glob, sizeof(glob)) &&
	       !fnmatch(glob, text, 0);
}

/* Whether the first, or the last, bytes of hexadecimal text are that number. */
static bool op_bytes(struct match *m, const struct pattern *p, const json_t *got)
{
	const char *text = json_string_value(got);
	size_t length = text ? strlen(text) / 2 : 0, n = p->op->way == BYTES_FIRST ? 2 : 8;
	size_t at = p->op->way == BYTES_FIRST ? 0 : length - n;
	uint64_t bits = 0;
	json_t *number;
	bool fit;

	if (length < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		size_t place = BYTE_ORDER == BIG_ENDIAN ? n - 1 - i : i;
		unsigned byte;

		if (sscanf(text + 2 * (at + i), "%2x", &byte) != 1)
			return false;
		bits |= (uint64_t)byte << 8 * place;
	}
	number = value_json(bits);
	fit = would_fit(m, p->parts, number);
	json_decref(number);
	return fit;
}

static void put_json(char *out, size_t size, const json_t *json)
{
	char *text = json ? or_exit(json_text(json, JSON_COMPACT | JSON_ENCODE_ANY)) : NULL;

	snprintf(out, size, "%s", text ? text : "nothing");
	if (text && strlen(text) >= size)
		memcpy(out + size - 4, "...", 4);
	free(text);
}

/* The pattern as JSON; with `m`, what its names and expressions stand for in their place. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static json_t *as_json(const struct match *m, const struct pattern *p)
{
	const char *text = json_string_value(p->json);
	json_t *bound = m && text && *text == '$' ? scope_json(m->scope, text + 1) : NULL, *out;
	struct value value;

	if (!p->count && bound)
		return json_incref(bound);
	if (!p->count && m && text && strchr(text, '$') && !evaluate(m, p->json, &value))
		return value.negative ? json_integer((json_int_t)value.bits)
				      : value_json(value.bits);
	if (!p->count)
		return json_incref((json_t *)p->json);
	if (p->kind == PATTERN_OPERATOR && !json_is_array(p->json))
		return as_json(m, p->parts);
	out = p->parts[0].key ? json_object() : json_array();
	for (size_t i = 0; i < p->count; i++) {
		json_t *part = as_json(m, &p->parts[i]);

		if (p->parts[i].key)
			json_object_set_new(out, p->parts[i].key, part);
		else
			json_array_append_new(out, part);
	}
	return out;
}

json_t *pattern_json(const struct pattern *pattern)
{
	return as_json(NULL, pattern);
}

/* The pattern, and beside it what it comes to where names are in it. An operator is one of an
 * object. */
static void put_pattern(struct match *m, char *out, size_t size, const struct pattern *p)
{
	const struct pattern whole = {
		.kind = PATTERN_OPERATORS, .parts = (struct pattern *)p, .count = 1};
	json_t *json, *values;
	size_t n;

	if (p->kind == PATTERN_OPERATOR)
		p = &whole;
	json = as_json(NULL, p);
	values = as_json(m, p);
	put_json(out, size, json);
	n = strlen(out);
	if (!json_equal(values, json) && n + 8 < size) {
		n += (size_t)snprintf(out + n, size - n, " = ");
		put_json(out + n, size - n, values);
	}
	json_decref(json);
	json_decref(values);
}

/*
 * Says what did not fit, if nothing was said yet, and why, if that is said: what came is behind
 * that.
 */
static bool misfit_because(struct match *m, const struct pattern *p, const char *because,
			   const json_t *got)
{
	struct verdict *why = m->why;
	size_t n;

	if (!why || why->outcome != PASS)
		return false;
	why->outcome = FAIL;
	n = (size_t)snprintf(why->expected, sizeof(why->expected), "%s%s", m->path,
			     m->path[0] ? " " : "");
	put_pattern(m, why->expected + n, sizeof(why->expected) - n, p);
	n = because ? (size_t)snprintf(why->got, sizeof(why->got), "%s: ", because) : 0;
	put_json(why->got + n, sizeof(why->got) - n, got);
	return false;
}

static bool misfit(struct match *m, const struct pattern *p, const json_t *got)
{
	return misfit_because(m, p, NULL, got);
}

static bool fits_below(struct match *m, const char *key, const struct pattern *p, const json_t *got)
{
	size_t end = strlen(m->path);
	bool fit;

	snprintf(m->path + end, sizeof(m->path) - end, "/%s", key);
	fit = fits(m, p, got);
	m->path[end] = '\0';
	return fit;
}

/* Says which part of a list's operator does not hold and why; the list is behind that. */
static bool misfit_part(struct match *m, const struct pattern *p, size_t i, const char *because,
			const json_t *got)
{
	size_t end = strlen(m->path);

	if (!json_is_array(got))
		return misfit(m, &p->parts[i], got);
	snprintf(m->path + end, sizeof(m->path) - end, "/%s/%zu", p->op->name, i);
	misfit_because(m, &p->parts[i], because, got);
	m->path[end] = '\0';
	return false;
}

/* ... because so many of the elements fit. */
static bool misfit_count(struct match *m, const struct pattern *p, size_t i, size_t fitting,
			 const json_t *got)
{
	char because[64];

	snprintf(because, sizeof(because), "%zu of %zu fit", fitting, json_array_size(got));
	return misfit_part(m, p, i, because, got);
}

/* Says how many elements there are, where their number is not that. */
static bool misfit_size(struct match *m, const struct pattern *p, const json_t *got)
{
	char because[48];

	snprintf(because, sizeof(because), "%zu elements", json_array_size(got));
	return misfit_because(m, p, json_is_array(got) ? because : NULL, got);
}

static bool fits_elements(struct match *m, const struct pattern *p, const json_t *got)
{
	char key[24];

	if (!json_is_array(got))
		return misfit(m, p, got);
	for (size_t i = 0; i < p->count && i < json_array_size(got); i++) {
		snprintf(key, sizeof(key), "%zu", i);
		if (!fits_below(m, key, &p->parts[i], json_array_get(got, i)))
			return false;
	}
	return json_array_size(got) == p->count || misfit_size(m, p, got);
}

static bool op_exactly(struct match *m, const struct pattern *p, const json_t *got)
{
	struct pattern list = *p;

	list.kind = PATTERN_ELEMENTS;
	return json_is_array(got) && fits_elements(m, &list, got);
}

static size_t count_of(struct match *m, const struct pattern *p, const json_t *got)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(got); i++)
		n += would_fit(m, p, json_array_get(got, i));
	return n;
}

/* Whether each pattern fits an element behind the one that the pattern before it fitted. */
static bool op_in_order(struct match *m, const struct pattern *p, const json_t *got)
{
	size_t at = 0;

	for (size_t i = 0; i < p->count; i++, at++) {
		char because[64] = "none fits";

		if (at)
			snprintf(because, sizeof(because), "none behind /%zu fits", at - 1);
		while (at < json_array_size(got) &&
		       !would_fit(m, &p->parts[i], json_array_get(got, at)))
			at++;
		if (at >= json_array_size(got))
			return misfit_part(m, p, i, because, got);
	}
	return true;
}

static bool op_some(struct match *m, const struct pattern *p, const json_t *got)
{
	for (size_t i = 0; i < p->count; i++)
		if (!count_of(m, &p->parts[i], got))
			return misfit_count(m, p, i, 0, got);
	return true;
}

static bool op_never(struct match *m, const struct pattern *p, const json_t *got)
{
	for (size_t i = 0; i < p->count; i++) {
		size_t n = count_of(m, &p->parts[i], got);

		if (n)
			return misfit_count(m, p, i, n, got);
	}
	return json_is_array(got);
}

static bool op_every(struct match *m, const struct pattern *p, const json_t *got)
{
	char key[24];

	for (size_t i = 0; i < json_array_size(got); i++) {
		snprintf(key, sizeof(key), "%zu", i);
		if (!fits_below(m, key, p->parts, json_array_get(got, i)))
			return false;
	}
	return json_array_size(got) > 0;
}

/* Whether so many are as many as the pattern says. */
static bool fits_number(struct match *m, const struct pattern *p, size_t n)
{
	json_t *number = json_integer((json_int_t)n);
	bool fit = would_fit(m, p, number);

	json_decref(number);
	return fit;
}

static bool op_length(struct match *m, const struct pattern *p, const json_t *got)
{
	return (json_is_array(got) && fits_number(m, p->parts, json_array_size(got))) ||
	       misfit_size(m, p, got);
}

static bool op_times(struct match *m, const struct pattern *p, const json_t *got)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct pattern *of = p->parts[i].parts, *is = of + 1;
		size_t n = count_of(m, of, got);

		if (!fits_number(m, is, n))
			return misfit_count(m, p, i, n, got);
	}
	return json_is_array(got);
}

static bool op_ascending(struct match *m, const struct pattern *p, const json_t *got)
{
	struct value last = value_of_s64(INT64_MIN), value;
	json_t *element;
	size_t i;

	(void)m;
	json_array_foreach((json_t *)got, i, element) {
		const json_t *one = json_object_get(element, json_string_value(p->json));

		if (!number_read(one, &value) || value_compare(&value, &last) < 0)
			return false;
		last = value;
	}
	return json_is_array(got);
}

static const struct pattern_operator operators[] = {
	{"gt", op_compare, OPERAND_NUMBER, ABOUT_NUMBER, .help = "a number greater than this",
	 .way = GREATER},
	{"ge", op_compare, OPERAND_NUMBER, ABOUT_NUMBER, .help = "... or equal",
	 .way = GREATER | EQUAL},
	{"lt", op_compare, OPERAND_NUMBER, ABOUT_NUMBER, .help = "a number less than this",
	 .way = LESS},
	{"le", op_compare, OPERAND_NUMBER, ABOUT_NUMBER, .help = "... or equal",
	 .way = LESS | EQUAL},
	{"between", op_between, OPERAND_PAIR, ABOUT_NUMBER, .help = "[lowest, highest]"},
	{"ne", op_ne, OPERAND_PATTERN, ABOUT_ANY, .help = "present and not equal"},
	{"not", op_not, OPERAND_PATTERN, ABOUT_ANY, .help = "anything that does not match"},
	{"has", op_bits, OPERAND_NAMES, ABOUT_BITS, .help = "these bits, or names in a list",
	 .way = BITS_ALL},
	{"without", op_bits, OPERAND_NAMES, ABOUT_BITS, .help = "none of these", .way = BITS_NONE},
	{"within", op_bits, OPERAND_NAMES, ABOUT_BITS, .help = "no bits or names but these",
	 .way = BITS_ONLY},
	{"absent", op_absent, OPERAND_TRUTH, ABOUT_ANY, .help = "true: not present"},
	{"bind", op_bind, OPERAND_NAME, ABOUT_ANY, .help = "anything; names it for later steps"},
	{"like", op_like, OPERAND_TEXT, ABOUT_TEXT, .help = "text that the glob matches"},
	{"first-u16", op_bytes, OPERAND_NUMBER, ABOUT_TEXT,
	 .help = "bytes that begin with this u16", .way = BYTES_FIRST},
	{"last-u64", op_bytes, OPERAND_NUMBER, ABOUT_TEXT, .help = "bytes that end with this u64",
	 .way = BYTES_LAST},
	{"exactly", op_exactly, OPERAND_ELEMENTS, ABOUT_LIST,
	 .help = "a list of exactly these, in order"},
	{"in-order", op_in_order, OPERAND_ELEMENTS, ABOUT_LIST,
	 .help = "a list with these in order; others may come between"},
	{"some", op_some, OPERAND_ELEMENTS, ABOUT_LIST,
	 .help = "a list in which each of these matches an element"},
	{"never", op_never, OPERAND_ELEMENTS, ABOUT_LIST,
	 .help = "a list in which none of these matches an element"},
	{"every", op_every, OPERAND_ELEMENT, ABOUT_LIST,
	 .help = "a list, not empty, in which every element matches"},
	{"length", op_length, OPERAND_LENGTH, ABOUT_LIST,
	 .help = "a list with this number of elements"},
	{"times", op_times, OPERAND_COUNTS, ABOUT_LIST,
	 .help = "a list: {\"of\": pattern, \"is\": number of elements that match}"},
	{"ascending", op_ascending, OPERAND_TEXT, ABOUT_LIST,
	 .help = "a list sorted by that member"},
};
enum { OPERATORS = sizeof(operators) / sizeof(operators[0]) };

void pattern_help(FILE *f)
{
	for (size_t i = 0; i < OPERATORS; i++)
		fprintf(f, "  %-10s %s\n", operators[i].name, operators[i].help);
}

const struct pattern_operator *pattern_operator(const char *name, struct nearest *near)
{
	for (size_t i = 0; i < OPERATORS; i++) {
		if (!strcmp(operators[i].name, name))
			return &operators[i];
		if (near)
			nearest_try(near, operators[i].name);
	}
	return NULL;
}

const struct pattern *pattern_member(const struct pattern *pattern, const char *key)
{
	for (size_t i = 0; pattern && pattern->kind == PATTERN_MEMBERS && i < pattern->count; i++)
		if (!strcmp(pattern->parts[i].key, key))
			return &pattern->parts[i];
	return NULL;
}

/* Text equals text; what was read as "0x..." or a number equals what the pattern comes to,
 * bit by bit: -1 and 0xffffffffffffffff are one u64, written in two ways. */
static bool equals(struct match *m, const json_t *value, const json_t *got)
{
	const char *text = json_string_value(value);
	json_t *bound = text && text[0] == '$' ? scope_json(m->scope, text + 1) : NULL;
	char expanded[1024];
	struct value a, b;

	if (bound && json_equal(bound, got))
		return true;
	note_unknown(m, value);
	if (number_read(got, &a))
		return !evaluate(m, value, &b) && a.bits == b.bits;
	if (json_is_string(got))
		return text && !scope_expand(m->scope, text, expanded, sizeof(expanded)) &&
		       !strcmp(expanded, json_string_value(got));
	return json_equal(value, got);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool fits(struct match *m, const struct pattern *p, const json_t *got)
{
	if (p->kind == PATTERN_VALUE)
		return equals(m, p->json, got) || misfit(m, p, got);
	if (p->kind == PATTERN_ELEMENTS)
		return fits_elements(m, p, got);
	if (p->kind == PATTERN_MEMBERS && !json_is_object(got))
		return misfit(m, p, got);
	for (size_t i = 0; i < p->count; i++) {
		const struct pattern *part = &p->parts[i];

		if (p->kind == PATTERN_MEMBERS
			    ? !fits_below(m, part->key, part, json_object_get(got, part->key))
			    : !part->op->holds(m, part, got) && !misfit(m, part, got))
			return false;
	}
	return true;
}

/*
 * Each name in the pattern, whether or not the verdict comes to look at it.
 * NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern
 */
static void note_all_unknown(struct match *m, const struct pattern *p)
{
	for (size_t i = 0; !p->count && !p->is_own && i < elements(p->json); i++) {
		const char *text = json_string_value(element(p->json, i));

		if (text && strchr(text, '$'))
			note_unknown(m, element(p->json, i));
	}
	for (size_t i = 0; i < p->count; i++)
		note_all_unknown(m, &p->parts[i]);
}

bool pattern_match(const struct pattern *pattern, const json_t *got, struct scope *scope,
		   struct verdict *why)
{
	struct match m = {.scope = scope, .why = why, .unknown = why};

	if (why) {
		*why = (struct verdict){.outcome = PASS};
		note_all_unknown(&m, pattern);
	}
	return fits(&m, pattern, got) && (!why || why->outcome != ERROR);
}

/*
 * Parts turned round: what fitted must not fit any more.
 */

/*
 * {"not": this} in its place; of an operator, {"not": {operator: operand}} among the others. A
 * `not` becomes twice that.
 */
static bool turn(struct pattern *p, unsigned *index, struct arena *arena)
{
	struct pattern *parts;

	if ((*index)--)
		return false;
	if (!arena)
		return true;
	parts = or_exit(arena_array(arena, 2, sizeof(*parts)));
	parts[0] = *p;
	parts[1] = (struct pattern){.kind = PATTERN_OPERATOR,
				    .key = "not",
				    .op = pattern_operator("not", NULL),
				    .parts = parts,
				    .count = 1};
	if (p->kind == PATTERN_OPERATOR) {
		*p = parts[1];
		parts[1] = parts[0];
		parts[0] =
			(struct pattern){PATTERN_OPERATORS, NULL, NULL, NULL, &parts[1], 1, false};
	} else {
		*p = (struct pattern){PATTERN_OPERATORS, NULL, p->key, NULL, &parts[1], 1, false};
	}
	return true;
}

/*
 * Of what must fit under an operator there are parts, of {"of": pattern, "is": how many} how many;
 * `exactly` has one more, that there are so many. Else it is one as a whole, and `bind` is none.
 */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern */
static bool mutate_operator(struct pattern *p, unsigned *index, struct arena *arena)
{
	bool is_exact = !strcmp(p->op->name, "exactly");

	if (p->op->operand == OPERAND_NAME)
		return false;
	if ((p->op->operand != OPERAND_ELEMENTS && p->op->operand != OPERAND_COUNTS) ||
	    !strcmp(p->op->name, "never") || !p->count)
		return turn(p, index, arena);
	for (size_t i = 0; i < p->count; i++) {
		struct pattern *part = &p->parts[i];

		if (pattern_mutate(p->op->operand == OPERAND_COUNTS ? &part->parts[1] : part, index,
				   arena))
			return true;
	}
	if (!is_exact || (*index)--)
		return false;
	p->count -= arena != NULL;
	return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern */
bool pattern_mutate(struct pattern *pattern, unsigned *index, struct arena *arena)
{
	bool (*mutate)(struct pattern *, unsigned *, struct arena *) =
		pattern->kind == PATTERN_OPERATORS ? mutate_operator : pattern_mutate;

	if (pattern->kind == PATTERN_VALUE ||
	    (pattern->kind == PATTERN_ELEMENTS && !pattern->count))
		return turn(pattern, index, arena);
	for (size_t i = 0; i < pattern->count; i++)
		if (mutate(&pattern->parts[i], index, arena))
			return true;
	return false;
}
