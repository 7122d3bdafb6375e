/* SPDX-License-Identifier: MIT */
/*
 * Matching. A pattern is a value that must be equal, an object whose members must fit, a list whose
 * elements must, or an object of operators. The recursion is as deep as the pattern's JSON.
 */
#include "language/pattern.h"

#include <endian.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "language/keys.h"
#include "language/pattern_operator.h"

/* One match on its way: of `got`, NULL where there is nothing. */
struct match {
	struct scope *scope;
	struct verdict *why;     /* NULL: whether it fits is all that matters here */
	struct verdict *unknown; /* who is told of a name that stands for nothing, or NULL */
	char path[96];
};

static bool fits(struct match *m, const json_t *pattern, const json_t *got);

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
static void note_unknown(struct match *m, const json_t *pattern)
{
	const char *text = json_string_value(pattern);
	char expanded[1024];
	struct value value;

	if (m->unknown && m->unknown->outcome != ERROR && text &&
	    !(*text == '$' && scope_json(m->scope, text + 1)) &&
	    scope_expand(m->scope, text, expanded, sizeof(expanded)) == -ENOENT &&
	    evaluate(m, pattern, &value)) /* it knows more names: $tracepoint.sched:sched_switch */
		verdict_set(m->unknown, ERROR, "names in expect that stand for something", text);
}

static int number_of(const json_t *json, struct match *m, struct value *out)
{
	int err = evaluate(m, json, out);

	if (err)
		note_unknown(m, json);
	return err;
}

/* A value of what was read: a number, or "0x..." for one that is no count. */
static bool value_of(const json_t *got, struct value *out)
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

static bool numbers(struct match *m, const json_t *operand, const json_t *got, struct value *a,
		    struct value *b)
{
	return value_of(got, a) && !number_of(operand, m, b);
}

static bool op_gt(struct match *m, const json_t *operand, const json_t *got)
{
	struct value a, b;

	return numbers(m, operand, got, &a, &b) && value_compare(&a, &b) > 0;
}

static bool op_ge(struct match *m, const json_t *operand, const json_t *got)
{
	struct value a, b;

	return numbers(m, operand, got, &a, &b) && value_compare(&a, &b) >= 0;
}

static bool op_lt(struct match *m, const json_t *operand, const json_t *got)
{
	struct value a, b;

	return numbers(m, operand, got, &a, &b) && value_compare(&a, &b) < 0;
}

static bool op_le(struct match *m, const json_t *operand, const json_t *got)
{
	struct value a, b;

	return numbers(m, operand, got, &a, &b) && value_compare(&a, &b) <= 0;
}

static bool op_between(struct match *m, const json_t *operand, const json_t *got)
{
	return op_ge(m, json_array_get(operand, 0), got) &&
	       op_le(m, json_array_get(operand, 1), got);
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

static bool op_has(struct match *m, const json_t *operand, const json_t *got)
{
	struct value a, b;
	uint64_t have, want;

	if (json_is_array(got))
		return names(operand, got, &have, &want) && have == want;
	return numbers(m, operand, got, &a, &b) && (a.bits & b.bits) == b.bits;
}

static bool op_without(struct match *m, const json_t *operand, const json_t *got)
{
	struct value a, b;
	uint64_t have, want;

	if (json_is_array(got))
		return names(operand, got, &have, &want) && !have;
	return numbers(m, operand, got, &a, &b) && !(a.bits & b.bits);
}

static bool op_within(struct match *m, const json_t *operand, const json_t *got)
{
	struct value a, b;
	uint64_t have, want;

	if (json_is_array(got))
		return names(operand, got, &have, &want) && have == json_array_size(got);
	return numbers(m, operand, got, &a, &b) && !(a.bits & ~b.bits);
}

/* A try whose failure is not the whole's. */
static bool would_fit(struct match *m, const json_t *pattern, const json_t *got)
{
	struct match quiet = {.scope = m->scope, .unknown = m->unknown};

	return fits(&quiet, pattern, got);
}

static bool op_not(struct match *m, const json_t *operand, const json_t *got)
{
	return !would_fit(m, operand, got);
}

static bool op_ne(struct match *m, const json_t *operand, const json_t *got)
{
	return got && !would_fit(m, operand, got);
}

static bool op_absent(struct match *m, const json_t *operand, const json_t *got)
{
	(void)m;
	return json_is_true(operand) == !got;
}

static bool op_bind(struct match *m, const json_t *operand, const json_t *got)
{
	const char *name = json_string_value(operand);

	if (!got)
		return false;
	if (json_is_integer(got) && json_integer_value(got) >= 0)
		return !scope_bind(m->scope, name, (uint64_t)json_integer_value(got));
	return !scope_bind_json(m->scope, name, (json_t *)got);
}

static bool op_like(struct match *m, const json_t *operand, const json_t *got)
{
	const char *text = json_string_value(got);
	char glob[512];

	return text && !scope_expand(m->scope, json_string_value(operand), glob, sizeof(glob)) &&
	       !fnmatch(glob, text, 0);
}

/* The number that `n` bytes make which hexadecimal text has from `at` on. */
static bool number_at(const char *text, size_t at, size_t n, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		size_t place = BYTE_ORDER == BIG_ENDIAN ? n - 1 - i : i;
		unsigned byte;

		if (sscanf(text + 2 * (at + i), "%2x", &byte) != 1)
			return false;
		*out |= (uint64_t)byte << 8 * place;
	}
	return true;
}

static bool op_first_u16(struct match *m, const json_t *operand, const json_t *got)
{
	const char *text = json_string_value(got);
	struct value b;
	uint64_t a;

	return text && strlen(text) >= 4 && number_at(text, 0, 2, &a) &&
	       !number_of(operand, m, &b) && a == b.bits;
}

static bool op_last_u64(struct match *m, const json_t *operand, const json_t *got)
{
	const char *text = json_string_value(got);
	size_t n = text ? strlen(text) / 2 : 0;
	struct value b;
	uint64_t a;

	return n >= 8 && number_at(text, n - 8, 8, &a) && !number_of(operand, m, &b) && a == b.bits;
}

static void put_json(char *out, size_t size, const json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	snprintf(out, size, "%s", text ? text : json ? "?" : "nothing");
	if (text && strlen(text) >= size)
		memcpy(out + size - 4, "...", 4);
	free(text);
}

/*
 * The pattern with what its names and expressions stand for; a new reference. As deep as the
 * pattern's JSON.
 */
/* NOLINTNEXTLINE(misc-no-recursion) */
static json_t *resolved(struct match *m, const json_t *pattern)
{
	const char *text = json_string_value(pattern), *key;
	json_t *bound = text && *text == '$' ? scope_json(m->scope, text + 1) : NULL, *out, *item;
	struct value value;
	size_t i;

	if (bound)
		return json_incref(bound);
	if (text && strchr(text, '$') && !evaluate(m, pattern, &value))
		return value.negative ? json_integer((json_int_t)value.bits)
				      : value_json(value.bits);
	if (!json_is_object(pattern) && !json_is_array(pattern))
		return json_incref((json_t *)pattern);
	out = json_is_array(pattern) ? json_array() : json_object();
	json_array_foreach(pattern, i, item)
		json_array_append_new(out, resolved(m, item));
	if (json_is_object(pattern))
		json_object_foreach((json_t *)pattern, key, item)
			json_object_set_new(out, key, resolved(m, item));
	return out;
}

/* The pattern, and beside it what it comes to where names are in it. */
static void put_pattern(struct match *m, char *out, size_t size, const json_t *pattern)
{
	json_t *values = resolved(m, pattern);
	size_t n;

	put_json(out, size, pattern);
	n = strlen(out);
	if (!json_equal(values, pattern) && n + 8 < size) {
		n += (size_t)snprintf(out + n, size - n, " = ");
		put_json(out + n, size - n, values);
	}
	json_decref(values);
}

/* Says what did not fit, if nothing was said yet. */
static bool misfit(struct match *m, const json_t *pattern, const json_t *got)
{
	struct verdict *why = m->why;
	size_t n;

	if (!why || why->outcome != PASS)
		return false;
	why->outcome = FAIL;
	n = (size_t)snprintf(why->expected, sizeof(why->expected), "%s%s", m->path,
			     m->path[0] ? " " : "");
	put_pattern(m, why->expected + n, sizeof(why->expected) - n, pattern);
	put_json(why->got, sizeof(why->got), got);
	return false;
}

static bool fits_below(struct match *m, const char *key, const json_t *pattern, const json_t *got)
{
	size_t end = strlen(m->path);
	bool fit;

	snprintf(m->path + end, sizeof(m->path) - end, "/%s", key);
	fit = fits(m, pattern, got);
	m->path[end] = '\0';
	return fit;
}

/* ... and why; what came is behind that. */
static bool misfit_because(struct match *m, const json_t *pattern, const char *because,
			   const json_t *got)
{
	struct verdict *why = m->why;
	size_t n;

	if (!why || why->outcome != PASS)
		return false;
	misfit(m, pattern, NULL);
	n = (size_t)snprintf(why->got, sizeof(why->got), "%s: ", because);
	put_json(why->got + n, sizeof(why->got) - n, got);
	return false;
}

/* Says which part of a list's operator does not hold and why; the list is behind that. */
static bool misfit_part(struct match *m, const char *operator, size_t i, const json_t *part,
			const char *because, const json_t *got)
{
	size_t end = strlen(m->path);
	struct verdict *why = m->why;

	if (!why || why->outcome != PASS || !json_is_array(got))
		return misfit(m, part, got);
	snprintf(m->path + end, sizeof(m->path) - end, "/%s/%zu", operator, i);
	misfit_because(m, part, because, got);
	m->path[end] = '\0';
	return false;
}

/* ... because so many of the elements fit. */
static bool misfit_count(struct match *m, const char *operator, size_t i, const json_t *part,
			 size_t fitting, const json_t *got)
{
	char because[64];

	snprintf(because, sizeof(because), "%zu of %zu fit", fitting, json_array_size(got));
	return misfit_part(m, operator, i, part, because, got);
}

static bool op_exactly(struct match *m, const json_t *operand, const json_t *got)
{
	return json_is_array(got) && fits(m, operand, got);
}

static size_t count_of(struct match *m, const json_t *pattern, const json_t *got)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(got); i++)
		n += would_fit(m, pattern, json_array_get(got, i));
	return n;
}

static bool misfit_behind(struct match *m, size_t i, const json_t *part, size_t from,
			  const json_t *got)
{
	char because[64] = "none fits";

	if (from)
		snprintf(because, sizeof(because), "none behind /%zu fits", from - 1);
	return misfit_part(m, "in-order", i, part, because, got);
}

/* Whether each pattern fits an element behind the one that the pattern before it fitted. */
static bool op_in_order(struct match *m, const json_t *operand, const json_t *got)
{
	size_t at = 0;

	for (size_t i = 0; i < elements(operand); i++, at++) {
		size_t from = at;

		while (at < json_array_size(got) &&
		       !would_fit(m, element(operand, i), json_array_get(got, at)))
			at++;
		if (at >= json_array_size(got))
			return misfit_behind(m, i, element(operand, i), from, got);
	}
	return true;
}

static bool op_some(struct match *m, const json_t *operand, const json_t *got)
{
	for (size_t i = 0; i < elements(operand); i++)
		if (!count_of(m, element(operand, i), got))
			return misfit_count(m, "some", i, element(operand, i), 0, got);
	return true;
}

static bool op_never(struct match *m, const json_t *operand, const json_t *got)
{
	for (size_t i = 0; i < elements(operand); i++) {
		const json_t *one = element(operand, i);
		size_t n = count_of(m, one, got);

		if (n)
			return misfit_count(m, "never", i, one, n, got);
	}
	return json_is_array(got);
}

static bool op_every(struct match *m, const json_t *operand, const json_t *got)
{
	char key[24];

	for (size_t i = 0; i < json_array_size(got); i++) {
		snprintf(key, sizeof(key), "%zu", i);
		if (!fits_below(m, key, operand, json_array_get(got, i)))
			return false;
	}
	return json_array_size(got) > 0;
}

/* Says how many elements there are, where their number is not that. */
static bool misfit_size(struct match *m, const json_t *pattern, const json_t *got)
{
	char because[48];

	if (!json_is_array(got))
		return misfit(m, pattern, got);
	snprintf(because, sizeof(because), "%zu elements", json_array_size(got));
	return misfit_because(m, pattern, because, got);
}

static bool op_length(struct match *m, const json_t *operand, const json_t *got)
{
	json_t *length = json_integer((json_int_t)json_array_size(got));
	bool fit = json_is_array(got) && would_fit(m, operand, length);

	json_decref(length);
	if (fit)
		return true;
	length = json_pack("{s:O}", "length", (json_t *)operand);
	misfit_size(m, length, got);
	json_decref(length);
	return false;
}

static bool op_times(struct match *m, const json_t *operand, const json_t *got)
{
	for (size_t i = 0; i < elements(operand); i++) {
		const json_t *one = element(operand, i);
		size_t n = count_of(m, json_object_get(one, "of"), got);
		json_t *times = json_integer((json_int_t)n);
		bool fit = would_fit(m, json_object_get(one, "is"), times);

		json_decref(times);
		if (!fit)
			return misfit_count(m, "times", i, one, n, got);
	}
	return json_is_array(got);
}

static bool op_ascending(struct match *m, const json_t *operand, const json_t *got)
{
	struct value last = value_of_s64(INT64_MIN), value;

	(void)m;
	for (size_t i = 0; i < json_array_size(got); i++, last = value)
		if (!value_of(json_object_get(json_array_get(got, i), json_string_value(operand)),
			      &value) ||
		    value_compare(&value, &last) < 0)
			return false;
	return json_is_array(got);
}

static const struct relation operators[] = {
	{"gt", op_gt, OPERAND_NUMBER, ABOUT_NUMBER, "a number greater than this"},
	{"ge", op_ge, OPERAND_NUMBER, ABOUT_NUMBER, "... or equal"},
	{"lt", op_lt, OPERAND_NUMBER, ABOUT_NUMBER, "a number less than this"},
	{"le", op_le, OPERAND_NUMBER, ABOUT_NUMBER, "... or equal"},
	{"between", op_between, OPERAND_PAIR, ABOUT_NUMBER, "[lowest, highest]"},
	{"ne", op_ne, OPERAND_PATTERN, ABOUT_ANY, "there, and something else"},
	{"not", op_not, OPERAND_PATTERN, ABOUT_ANY, "whatever does not fit"},
	{"has", op_has, OPERAND_NAMES, ABOUT_BITS, "these bits, or names in a list"},
	{"without", op_without, OPERAND_NAMES, ABOUT_BITS, "none of these"},
	{"within", op_within, OPERAND_NAMES, ABOUT_BITS, "no others than these"},
	{"absent", op_absent, OPERAND_TRUTH, ABOUT_ANY, "true: nothing is there"},
	{"bind", op_bind, OPERAND_NAME, ABOUT_ANY, "anything; names it for later steps"},
	{"like", op_like, OPERAND_TEXT, ABOUT_TEXT, "text that the glob matches"},
	{"first-u16", op_first_u16, OPERAND_NUMBER, ABOUT_TEXT,
	 "bytes of which the first two are this number"},
	{"last-u64", op_last_u64, OPERAND_NUMBER, ABOUT_TEXT,
	 "bytes of which the last eight are this number"},
	{"exactly", op_exactly, OPERAND_ELEMENTS, ABOUT_LIST,
	 "of a list: these and no others, in order"},
	{"in-order", op_in_order, OPERAND_ELEMENTS, ABOUT_LIST,
	 "of a list: these, perhaps with others between"},
	{"some", op_some, OPERAND_ELEMENTS, ABOUT_LIST, "of a list: each fits at least one"},
	{"never", op_never, OPERAND_ELEMENTS, ABOUT_LIST, "of a list: none fits any"},
	{"every", op_every, OPERAND_ELEMENT, ABOUT_LIST, "of a list with elements: fits all"},
	{"length", op_length, OPERAND_LENGTH, ABOUT_LIST, "of a list: the number of elements"},
	{"times", op_times, OPERAND_COUNTS, ABOUT_LIST,
	 "of a list: {\"of\": pattern, \"is\": how many fit}"},
	{"ascending", op_ascending, OPERAND_TEXT, ABOUT_LIST, "of a list: by that member"},
};
enum { OPERATORS = sizeof(operators) / sizeof(operators[0]) };

void pattern_help(FILE *f)
{
	for (size_t i = 0; i < OPERATORS; i++)
		fprintf(f, "  %-10s %s\n", operators[i].name, operators[i].help);
}

const struct relation *pattern_operator(const char *name, struct nearest *near)
{
	for (size_t i = 0; i < OPERATORS; i++) {
		if (!strcmp(operators[i].name, name))
			return &operators[i];
		if (near)
			nearest_try(near, operators[i].name);
	}
	return NULL;
}

bool pattern_is_operation(const json_t *pattern)
{
	return json_is_object(pattern) &&
	       pattern_operator(json_object_iter_key(json_object_iter((json_t *)pattern)), NULL);
}

static bool fits_members(struct match *m, const json_t *pattern, const json_t *got)
{
	const char *key;
	json_t *value;

	if (!json_is_object(got))
		return misfit(m, pattern, got);
	json_object_foreach((json_t *)pattern, key, value)
		if (!fits_below(m, key, value, json_object_get(got, key)))
			return false;
	return true;
}

static bool fits_elements(struct match *m, const json_t *pattern, const json_t *got)
{
	size_t n = json_array_size(pattern);
	char key[24];

	if (!json_is_array(got))
		return misfit(m, pattern, got);
	for (size_t i = 0; i < n && i < json_array_size(got); i++) {
		snprintf(key, sizeof(key), "%zu", i);
		if (!fits_below(m, key, json_array_get(pattern, i), json_array_get(got, i)))
			return false;
	}
	return json_array_size(got) == n || misfit_size(m, pattern, got);
}

/* Says which operator does not hold. */
static bool misfit_operator(struct match *m, const char *key, json_t *operand, const json_t *got)
{
	json_t *one = json_pack("{s:O}", key, operand);

	misfit(m, one, got);
	json_decref(one);
	return false;
}

static bool fits_operators(struct match *m, const json_t *pattern, const json_t *got)
{
	const char *key;
	json_t *operand;

	json_object_foreach((json_t *)pattern, key, operand)
		if (!pattern_operator(key, NULL)->holds(m, operand, got))
			return misfit_operator(m, key, operand, got);
	return true;
}

/* Text equals text; what was read as "0x..." or a number equals what the pattern comes to,
 * bit by bit: -1 and 0xffffffffffffffff are one u64, written in two ways. */
static bool equals(struct match *m, const json_t *pattern, const json_t *got)
{
	const char *text = json_string_value(pattern);
	json_t *bound = text && text[0] == '$' ? scope_json(m->scope, text + 1) : NULL;
	char expanded[1024];
	struct value a, b;

	if (bound && json_equal(bound, got))
		return true;
	note_unknown(m, pattern);
	if (value_of(got, &a))
		return !number_of(pattern, m, &b) && a.bits == b.bits;
	if (json_is_string(got))
		return text && !scope_expand(m->scope, text, expanded, sizeof(expanded)) &&
		       !strcmp(expanded, json_string_value(got));
	return json_equal(pattern, got);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool fits(struct match *m, const json_t *pattern, const json_t *got)
{
	if (pattern_is_operation(pattern))
		return fits_operators(m, pattern, got);
	if (json_is_object(pattern))
		return fits_members(m, pattern, got);
	if (json_is_array(pattern))
		return fits_elements(m, pattern, got);
	return equals(m, pattern, got) || misfit(m, pattern, got);
}

/*
 * The names that the pattern binds itself, as keys of `own`.
 * NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern
 */
static void note_own(const json_t *pattern, json_t *own)
{
	const char *name = json_string_value(json_object_get(pattern, "bind")), *key;
	json_t *item;
	size_t i;

	if (name)
		json_object_set_new(own, name, json_true());
	json_object_foreach((json_t *)pattern, key, item)
		note_own(item, own);
	json_array_foreach(pattern, i, item)
		note_own(item, own);
}

/* Such a name stands for something only once that has been matched. */
static bool uses_own(const char *text, const json_t *own)
{
	char name[VARIABLE_NAME];
	size_t n;

	for (text = strchr(text, '$'); text; text = strchr(text + 1, '$')) {
		n = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");
		snprintf(name, sizeof(name), "%.*s", (int)n, text + 1);
		if (json_object_get(own, name))
			return true;
	}
	return false;
}

/*
 * Each name in the pattern, whether or not the verdict comes to look at it.
 * NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern
 */
static void note_all_unknown(struct match *m, const json_t *pattern, json_t *own)
{
	const char *text = json_string_value(pattern), *key;
	json_t *item;
	size_t i;

	if (text && strchr(text, '$') && !uses_own(text, own))
		note_unknown(m, pattern);
	json_object_foreach((json_t *)pattern, key, item)
		note_all_unknown(m, item, own);
	json_array_foreach(pattern, i, item)
		note_all_unknown(m, item, own);
}

bool pattern_match_json(const json_t *pattern, const json_t *got, struct scope *scope,
			struct verdict *why)
{
	struct match m = {.scope = scope, .why = why, .unknown = why};

	if (why) {
		json_t *own = json_object();

		*why = (struct verdict){.outcome = PASS};
		note_own(pattern, own);
		note_all_unknown(&m, pattern, own);
		json_decref(own);
	}
	return fits(&m, pattern, got) && (!why || why->outcome != ERROR);
}

bool pattern_match(const json_t *pattern, uint64_t value, const struct scope *scope)
{
	json_t *got = value_json(value);
	bool fit = pattern_match_json(pattern, got, (struct scope *)scope, NULL);

	json_decref(got);
	return fit;
}

/*
 * The form of patterns: what can be said to be wrong before anything is matched.
 */

int pattern_number(const json_t *json, const struct vars *vars, const struct where *w,
		   struct value *value, struct error *e)
{
	const char *text = json_string_value(json);

	if (text && text[0] && !text[strspn(text, "0123456789")])
		return error_value(e, w, json, "a number, which stands without quotes");
	return value_eval(json, NULL, vars, w, value, e);
}

static int check_number(const json_t *operand, const struct scope *scope, const struct where *w,
			struct value *value, struct error *e)
{
	struct vars vars = scope_vars(scope);

	return pattern_number(operand, &vars, w, value, e);
}

static int check_pair(const json_t *operand, const struct scope *scope, const struct where *w,
		      struct error *e)
{
	struct value lowest, highest;

	if (json_array_size(operand) != 2)
		return error_value(e, w, operand, "[lowest, highest]");
	if (check_number(json_array_get(operand, 0), scope, w, &lowest, e) ||
	    check_number(json_array_get(operand, 1), scope, w, &highest, e))
		return -EINVAL;
	if (lowest.known && highest.known && value_compare(&lowest, &highest) > 0)
		return error_value(e, w, operand, "[lowest, highest]: nothing is between these");
	return 0;
}

static int check_patterns(const json_t *operand, struct scope *scope, const struct where *w,
			  struct error *e)
{
	const json_t *one;

	for (size_t i = 0; (one = element(operand, i)); i++) {
		struct where at = json_is_array(operand) ? where_index(w, i) : *w;

		if (pattern_check(one, scope, &at, e))
			return -EINVAL;
	}
	return 0;
}

/* Of how many there are, which is never below 0: a bound that each number keeps says nothing. */
static int check_count(const json_t *pattern, struct scope *scope, const struct where *w,
		       struct error *e)
{
	static const char *const least[] = {"ge", "gt"};
	int err = pattern_check(pattern, scope, w, e);

	for (size_t i = 0; !err && i < 2; i++) {
		const json_t *bound = json_object_get(pattern, least[i]);
		const struct value lowest = value_of_s64(-(int64_t)i);
		struct where at = where_key(w, least[i]);
		struct value value;

		if (!bound)
			continue;
		err = check_number(bound, scope, &at, &value, e);
		if (!err && value.known && value_compare(&value, &lowest) <= 0)
			err = error_value(e, &at, bound,
					  "a bound that not every number of elements keeps");
	}
	return err;
}

/* {"of": pattern, "is": how many fit}, or a list of these. */
static int check_counts(const json_t *operand, struct scope *scope, const struct where *w,
			struct error *e)
{
	const json_t *one;

	if (!elements(operand))
		return error_value(e, w, operand,
				   "at least one count: whatever is shown fits none at all");
	for (size_t i = 0; (one = element(operand, i)); i++) {
		struct where at = json_is_array(operand) ? where_index(w, i) : *w;
		const json_t *of = json_object_get(one, "of"), *is = json_object_get(one, "is");

		if (!of || !is || json_object_size(one) != 2)
			return error_value(e, &at, one, "of, a pattern, and is, how many fit");
		if (pattern_check(of, scope, AT_KEY(&at, "of"), e) ||
		    check_count(is, scope, AT_KEY(&at, "is"), e))
			return -EINVAL;
	}
	return 0;
}

/* Whether a text is a name or a number's expression hangs on what it is held against: shape.c. */
static int check_names(const json_t *operand, const struct where *w, struct error *e)
{
	bool good = elements(operand) > 0;

	for (size_t i = 0; json_is_array(operand) && i < elements(operand); i++)
		good = good && json_is_string(element(operand, i));
	if (!json_is_array(operand))
		good = json_is_string(operand) || json_is_integer(operand);
	return good ? 0 : error_value(e, w, operand, "names, or a number of bits");
}

static int check_text(const json_t *pattern, const struct scope *scope, const struct where *w,
		      struct error *e)
{
	const char *at = strchr(json_string_value(pattern), '$');
	struct vars vars = scope_vars(scope);

	for (; at; at = strchr(at + 1, '$')) {
		char name[VARIABLE_NAME];
		size_t n = scope_name_length(at + 1);
		struct nearest near;
		struct value value;

		snprintf(name, sizeof(name), "%.*s", (int)n, at + 1);
		near = nearest_to(name);
		if (vars.lookup(vars.context, name, &value, &near))
			return error_name(
				e, w, name, near.best,
				"a variable known here, after the $ (perfabi help variables)");
	}
	return 0;
}

static int check_operand(const struct relation *op, const json_t *operand, struct scope *scope,
			 const struct where *w, struct error *e)
{
	struct value value;

	switch (op->operand) {
	case OPERAND_NUMBER:
		return check_number(operand, scope, w, &value, e);
	case OPERAND_PAIR:
		return check_pair(operand, scope, w, e);
	case OPERAND_NAMES:
		return check_names(operand, w, e);
	case OPERAND_TRUTH:
		return json_is_boolean(operand) ? 0 : error_value(e, w, operand, "true or false");
	case OPERAND_TEXT:
		return json_is_string(operand) ? check_text(operand, scope, w, e)
					       : error_value(e, w, operand, "a text");
	case OPERAND_NAME:
		if (!json_is_string(operand) || scope_bind(scope, json_string_value(operand), 0))
			return error_value(e, w, operand, "a name of a-z, 0-9 and _");
		return 0;
	case OPERAND_LENGTH:
		return check_count(operand, scope, w, e);
	case OPERAND_ELEMENTS:
		if (!elements(operand) && strcmp(op->name, "exactly") != 0)
			return error_value(
				e, w, operand,
				"at least one pattern: whatever is shown fits none at all");
		return check_patterns(operand, scope, w, e);
	case OPERAND_COUNTS:
		return check_counts(operand, scope, w, e);
	default:
		return pattern_check(operand, scope, w, e);
	}
}

static int check_operators(const json_t *pattern, struct scope *scope, const struct where *w,
			   struct error *e)
{
	const char *key;
	json_t *operand;

	json_object_foreach((json_t *)pattern, key, operand) {
		struct nearest near = nearest_to(key);
		const struct relation *op = pattern_operator(key, &near);
		struct where at = where_key(w, key);

		if (!op)
			return error_name(e, &at, key, near.best,
					  "operators alone (perfabi help patterns)");
		if (check_operand(op, operand, scope, &at, e))
			return -EINVAL;
	}
	return 0;
}

int pattern_check(const json_t *pattern, struct scope *scope, const struct where *w,
		  struct error *e)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_object(pattern) && !json_object_size(pattern))
		return error_value(e, w, pattern, "a value, members, or operators");
	if (pattern_is_operation(pattern))
		return check_operators(pattern, scope, w, e);
	json_object_foreach((json_t *)pattern, key, item) {
		struct where at = where_key(w, key);

		if (pattern_check(item, scope, &at, e))
			return -EINVAL;
	}
	json_array_foreach(pattern, i, item) {
		struct where at = where_index(w, i);

		if (pattern_check(item, scope, &at, e))
			return -EINVAL;
	}
	if (json_is_string(pattern))
		return check_text(pattern, scope, w, e);
	if (!pattern || json_is_null(pattern) || json_is_real(pattern))
		return error_value(e, w, pattern, "a value, members, or operators");
	return 0;
}

int pattern_check_number(const json_t *pattern, struct scope *scope, const struct where *w,
			 struct error *e)
{
	if (!json_object_size(pattern) || pattern_is_operation(pattern))
		return pattern_check(pattern, scope, w, e);
	return check_operators(pattern, scope, w, e);
}

/*
 * Patterns turned round, part by part: what fitted must not fit any more.
 */

static json_t *turned(const json_t *pattern)
{
	return json_pack("{s:O}", "not", pattern);
}

static json_t *with_member(const json_t *object, const char *key, json_t *value)
{
	json_t *copy = json_copy((json_t *)object);

	json_object_set_new(copy, key, value);
	return copy;
}

static json_t *with_element(const json_t *list, size_t i, json_t *value)
{
	json_t *copy = json_copy((json_t *)list);

	json_array_set_new(copy, i, value);
	return copy;
}

static json_t *mutate_parts(const json_t *pattern, unsigned *index);

/*
 * {"gt": 3, "lt": 9} -> {"not": {"gt": 3}, "lt": 9}; a `not` becomes twice that. In its place: what
 * it binds is used by those behind it.
 */
static json_t *turn_operator(const json_t *pattern, const char *mutated, const json_t *operand)
{
	json_t *out = json_object(), *one;
	const char *key;

	json_object_foreach((json_t *)pattern, key, one) {
		if (!strcmp(key, mutated))
			json_object_set_new(out, "not", json_pack("{s:O}", key, operand));
		else if (strcmp(key, "not"))
			json_object_set(out, key, one);
	}
	return out;
}

static json_t *without_last(const json_t *list)
{
	json_t *copy = json_copy((json_t *)list);

	json_array_remove(copy, json_array_size(copy) - 1);
	return copy;
}

/* Of {"of": pattern, "is": how many}: how many. What does not fit `of` may be as many. */
static json_t *mutate_counts(const json_t *operand, unsigned *index)
{
	for (size_t i = 0; i < elements(operand); i++) {
		const json_t *one = element(operand, i);
		json_t *is = mutate_parts(json_object_get(one, "is"), index), *mutated;

		if (!is)
			continue;
		mutated = with_member(one, "is", is);
		return json_is_array(operand) ? with_element(operand, i, mutated) : mutated;
	}
	return NULL;
}

/* Of what must fit there are parts; `never` as a whole is one. */
static bool is_by_parts(const struct relation *op)
{
	return op->operand == OPERAND_COUNTS ||
	       (op->operand == OPERAND_ELEMENTS && strcmp(op->name, "never") != 0);
}

/* Of patterns under an operator: each part of each, and of `exactly` that there are so many. */
static json_t *mutate_operation(const json_t *pattern, unsigned *index)
{
	const char *key;
	json_t *operand, *mutated;

	json_object_foreach((json_t *)pattern, key, operand) {
		const struct relation *op = pattern_operator(key, NULL);

		if (op->operand == OPERAND_NAME) /* anything fits */
			continue;
		if (!is_by_parts(op)) {
			if (!(*index)--)
				return turn_operator(pattern, key, operand);
			continue;
		}
		mutated = op->operand == OPERAND_ELEMENTS ? mutate_parts(operand, index)
							  : mutate_counts(operand, index);
		if (!mutated && !strcmp(key, "exactly") && json_array_size(operand) && !(*index)--)
			mutated = without_last(operand);
		if (mutated)
			return with_member(pattern, key, mutated);
	}
	return NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern */
static json_t *mutate_parts(const json_t *pattern, unsigned *index)
{
	json_t *item, *mutated;
	const char *key;
	size_t i;

	if (pattern_is_operation(pattern))
		return mutate_operation(pattern, index);
	json_object_foreach((json_t *)pattern, key, item) {
		mutated = mutate_parts(item, index);
		if (mutated)
			return with_member(pattern, key, mutated);
	}
	json_array_foreach(pattern, i, item) {
		mutated = mutate_parts(item, index);
		if (mutated)
			return with_element(pattern, i, mutated);
	}
	if (json_is_object(pattern) || json_array_size(pattern))
		return NULL;
	return (*index)-- ? NULL : turned(pattern);
}

json_t *pattern_mutate(const json_t *pattern, unsigned *index)
{
	return mutate_parts(pattern, index);
}
