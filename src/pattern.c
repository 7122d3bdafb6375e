/* SPDX-License-Identifier: MIT */
/*
 * Matching. A pattern is a value that must be equal, an object whose members must fit, a list whose
 * elements must, or an object of operators. The recursion is as deep as the pattern's JSON.
 */
#include "pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "one_or_list.h"

/* One match on its way: of `got`, NULL where there is nothing. */
struct match {
	struct scope *scope;
	struct mismatch *why;
	char path[96];
};

enum shape { NUMBER, PAIR, NAMES, PATTERN, PATTERNS, TRUTH, TEXT, NAME };

static bool fits(struct match *m, const json_t *pattern, const json_t *got);

static int number_of(const json_t *json, const struct scope *scope, uint64_t *out)
{
	struct vars vars = scope_vars(scope);
	struct where nowhere = {0};
	struct error e = {0};
	struct value value;

	if (!json || value_eval(json, NULL, &vars, &nowhere, &value, &e))
		return -EINVAL;
	*out = value.bits;
	return 0;
}

/* A value of what was read: a number, or "0x..." for one that is no count. */
static bool value_of(const json_t *got, uint64_t *out)
{
	const char *text = json_string_value(got);
	char *end;

	if (json_is_integer(got)) {
		*out = (uint64_t)json_integer_value(got);
		return true;
	}
	if (!text || strncmp(text, "0x", 2))
		return false;
	*out = strtoull(text, &end, 16);
	return !*end;
}

static bool numbers(struct match *m, const json_t *operand, const json_t *got, uint64_t *a,
		    uint64_t *b)
{
	return value_of(got, a) && !number_of(operand, m->scope, b);
}

static bool op_gt(struct match *m, const json_t *operand, const json_t *got)
{
	uint64_t a, b;

	return numbers(m, operand, got, &a, &b) && a > b;
}

static bool op_ge(struct match *m, const json_t *operand, const json_t *got)
{
	uint64_t a, b;

	return numbers(m, operand, got, &a, &b) && a >= b;
}

static bool op_lt(struct match *m, const json_t *operand, const json_t *got)
{
	uint64_t a, b;

	return numbers(m, operand, got, &a, &b) && a < b;
}

static bool op_le(struct match *m, const json_t *operand, const json_t *got)
{
	uint64_t a, b;

	return numbers(m, operand, got, &a, &b) && a <= b;
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

/* How many of the operand's names the list has; of bits, all or none. */
static bool has_any_or_all(struct match *m, const json_t *operand, const json_t *got, bool all)
{
	uint64_t have, want;
	size_t found = 0;

	if (!json_is_array(got))
		return numbers(m, operand, got, &have, &want) &&
		       (all ? (have & want) == want : (have & want) != 0);
	for (size_t i = 0; i < elements(operand); i++)
		found += lists(got, json_string_value(element(operand, i)));
	return all ? found == elements(operand) : found > 0;
}

static bool op_has(struct match *m, const json_t *operand, const json_t *got)
{
	return got && has_any_or_all(m, operand, got, true);
}

static bool op_without(struct match *m, const json_t *operand, const json_t *got)
{
	return got && !has_any_or_all(m, operand, got, false);
}

/* A try whose failure is not the whole's. */
static bool would_fit(struct match *m, const json_t *pattern, const json_t *got)
{
	struct match quiet = {.scope = m->scope};

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
	if (json_is_integer(got))
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

static bool op_exactly(struct match *m, const json_t *operand, const json_t *got)
{
	return json_is_array(got) && fits(m, operand, got);
}

/* Whether each pattern fits an element behind the one that the pattern before it fitted. */
static bool op_in_order(struct match *m, const json_t *operand, const json_t *got)
{
	size_t at = 0;

	for (size_t i = 0; i < elements(operand); i++, at++) {
		while (at < json_array_size(got) &&
		       !would_fit(m, element(operand, i), json_array_get(got, at)))
			at++;
		if (at >= json_array_size(got))
			return false;
	}
	return true;
}

static size_t count_of(struct match *m, const json_t *pattern, const json_t *got)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(got); i++)
		n += would_fit(m, pattern, json_array_get(got, i));
	return n;
}

static bool op_some(struct match *m, const json_t *operand, const json_t *got)
{
	for (size_t i = 0; i < elements(operand); i++)
		if (!count_of(m, element(operand, i), got))
			return false;
	return true;
}

static bool op_never(struct match *m, const json_t *operand, const json_t *got)
{
	for (size_t i = 0; i < elements(operand); i++)
		if (count_of(m, element(operand, i), got))
			return false;
	return json_is_array(got);
}

static bool op_every(struct match *m, const json_t *operand, const json_t *got)
{
	return json_array_size(got) && count_of(m, operand, got) == json_array_size(got);
}

static bool op_length(struct match *m, const json_t *operand, const json_t *got)
{
	json_t *length = json_integer((json_int_t)json_array_size(got));
	bool fit = json_is_array(got) && would_fit(m, operand, length);

	json_decref(length);
	return fit;
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
			return false;
	}
	return json_is_array(got);
}

static bool op_ascending(struct match *m, const json_t *operand, const json_t *got)
{
	uint64_t last = 0, value;

	(void)m;
	for (size_t i = 0; i < json_array_size(got); i++, last = value)
		if (!value_of(json_object_get(json_array_get(got, i), json_string_value(operand)),
			      &value) ||
		    value < last)
			return false;
	return json_is_array(got);
}

static const struct relation {
	const char *name;
	bool (*holds)(struct match *, const json_t *operand, const json_t *got);
	enum shape shape;
	const char *help;
} operators[] = {
	{"gt", op_gt, NUMBER, "a number greater than this"},
	{"ge", op_ge, NUMBER, "... or equal"},
	{"lt", op_lt, NUMBER, "a number less than this"},
	{"le", op_le, NUMBER, "... or equal"},
	{"between", op_between, PAIR, "[lowest, highest]"},
	{"ne", op_ne, PATTERN, "there, and something else"},
	{"not", op_not, PATTERN, "whatever does not fit"},
	{"has", op_has, NAMES, "these bits, or names in a list"},
	{"without", op_without, NAMES, "none of these"},
	{"absent", op_absent, TRUTH, "true: nothing is there"},
	{"bind", op_bind, NAME, "anything; names it for later steps"},
	{"like", op_like, TEXT, "text that the glob matches"},
	{"exactly", op_exactly, PATTERNS, "of a list: these and no others, in order"},
	{"in-order", op_in_order, PATTERNS, "of a list: these, perhaps with others between"},
	{"some", op_some, PATTERNS, "of a list: each fits at least one"},
	{"never", op_never, PATTERNS, "of a list: none fits any"},
	{"every", op_every, PATTERN, "of a list with elements: fits all"},
	{"length", op_length, PATTERN, "of a list: the number of elements"},
	{"times", op_times, PATTERNS, "of a list: {\"of\": pattern, \"is\": how many fit}"},
	{"ascending", op_ascending, TEXT, "of a list: by that member"},
};
enum { OPERATORS = sizeof(operators) / sizeof(operators[0]) };

void pattern_help(FILE *f)
{
	for (size_t i = 0; i < OPERATORS; i++)
		fprintf(f, "  %-10s %s\n", operators[i].name, operators[i].help);
}

static const struct relation *find_operator(const char *name)
{
	for (size_t i = 0; i < OPERATORS; i++)
		if (!strcmp(operators[i].name, name))
			return &operators[i];
	return NULL;
}

/* An object whose first key is an operator has no others. */
static bool is_operation(const json_t *pattern)
{
	return json_is_object(pattern) &&
	       find_operator(json_object_iter_key(json_object_iter((json_t *)pattern)));
}

static void put_json(char *out, size_t size, const json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	snprintf(out, size, "%s", text ? text : json ? "?" : "nothing");
	if (text && strlen(text) >= size)
		memcpy(out + size - 4, "...", 4);
	free(text);
}

/* Says what did not fit, if nothing was said yet. */
static bool misfit(struct match *m, const json_t *pattern, const json_t *got)
{
	if (!m->why || m->why->expected[0])
		return false;
	snprintf(m->why->path, sizeof(m->why->path), "%s", m->path);
	put_json(m->why->expected, sizeof(m->why->expected), pattern);
	put_json(m->why->got, sizeof(m->why->got), got);
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
	return json_array_size(got) == n || misfit(m, pattern, got);
}

static bool fits_operators(struct match *m, const json_t *pattern, const json_t *got)
{
	const char *key;
	json_t *operand;

	json_object_foreach((json_t *)pattern, key, operand)
		if (!find_operator(key)->holds(m, operand, got))
			return misfit(m, pattern, got);
	return true;
}

/* Text equals text; what was read as "0x..." or a number equals what the pattern comes to. */
static bool equals(struct match *m, const json_t *pattern, const json_t *got)
{
	const char *text = json_string_value(pattern);
	json_t *bound = text && text[0] == '$' ? scope_json(m->scope, text + 1) : NULL;
	char expanded[1024];
	uint64_t a, b;

	if (bound && json_equal(bound, got))
		return true;
	if (value_of(got, &a))
		return !number_of(pattern, m->scope, &b) && a == b;
	if (json_is_string(got))
		return text && !scope_expand(m->scope, text, expanded, sizeof(expanded)) &&
		       !strcmp(expanded, json_string_value(got));
	return json_equal(pattern, got);
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool fits(struct match *m, const json_t *pattern, const json_t *got)
{
	if (is_operation(pattern))
		return fits_operators(m, pattern, got);
	if (json_is_object(pattern))
		return fits_members(m, pattern, got);
	if (json_is_array(pattern))
		return fits_elements(m, pattern, got);
	return equals(m, pattern, got) || misfit(m, pattern, got);
}

bool pattern_match_json(const json_t *pattern, const json_t *got, struct scope *scope,
			struct mismatch *why)
{
	struct match m = {.scope = scope, .why = why};

	if (why)
		*why = (struct mismatch){0};
	return fits(&m, pattern, got);
}

bool pattern_match(const json_t *pattern, uint64_t value, const struct scope *scope)
{
	json_t *got = json_integer((json_int_t)value);
	bool fit = pattern_match_json(pattern, got, (struct scope *)scope, NULL);

	json_decref(got);
	return fit;
}

static int check_number(const json_t *operand, const struct scope *scope, const struct where *w,
			struct error *e)
{
	struct vars vars = scope_vars(scope);
	struct value value;

	return value_eval(operand, NULL, &vars, w, &value, e);
}

static int check_patterns(const json_t *operand, const char *name, struct scope *scope,
			  const struct where *w, struct error *e)
{
	for (size_t i = 0; i < elements(operand); i++) {
		struct where at = json_is_array(operand) ? where_index(w, i) : *w;
		const json_t *one = element(operand, i), *of = json_object_get(one, "of");
		struct where at_of = where_key(&at, "of"), at_is = where_key(&at, "is");
		int err;

		if (strcmp(name, "times"))
			err = pattern_check(one, scope, &at, e);
		else if (!of || !json_object_get(one, "is") || json_object_size(one) != 2)
			return error_value(e, &at, one, "of, a pattern, and is, how many fit");
		else
			err = pattern_check(of, scope, &at_of, e) ||
			      pattern_check(json_object_get(one, "is"), scope, &at_is, e);
		if (err)
			return -EINVAL;
	}
	return 0;
}

/* Bits are numbers, names are names: only lists are known here to be one or the other. */
static int check_names(const json_t *operand, const struct scope *scope, const struct where *w,
		       struct error *e)
{
	for (size_t i = 0; json_is_array(operand) && i < elements(operand); i++)
		if (!json_is_string(element(operand, i)))
			return error_value(e, w, operand, "names, or a number of bits");
	return json_is_integer(operand) ? check_number(operand, scope, w, e) : 0;
}

static int check_operand(const struct relation *op, const json_t *operand, struct scope *scope,
			 const struct where *w, struct error *e)
{
	switch (op->shape) {
	case NUMBER:
		return check_number(operand, scope, w, e);
	case PAIR:
		if (json_array_size(operand) != 2)
			return error_value(e, w, operand, "[lowest, highest]");
		return check_number(json_array_get(operand, 0), scope, w, e) ||
				       check_number(json_array_get(operand, 1), scope, w, e)
			       ? -EINVAL
			       : 0;
	case NAMES:
		return check_names(operand, scope, w, e);
	case TRUTH:
		return json_is_boolean(operand) ? 0 : error_value(e, w, operand, "true or false");
	case TEXT:
		return json_is_string(operand) ? 0 : error_value(e, w, operand, "a text");
	case NAME:
		if (!json_is_string(operand) || scope_bind(scope, json_string_value(operand), 0))
			return error_value(e, w, operand, "a name of a-z, 0-9 and _");
		return 0;
	case PATTERNS:
		return check_patterns(operand, op->name, scope, w, e);
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
		const struct relation *op = find_operator(key);
		struct where at = where_key(w, key);
		struct nearest near = nearest_to(key);

		for (size_t i = 0; i < OPERATORS && !op; i++)
			nearest_try(&near, operators[i].name);
		if (!op)
			return error_name(e, &at, key, near.best,
					  "operators alone (perfabi help patterns)");
		if (check_operand(op, operand, scope, &at, e))
			return -EINVAL;
	}
	return 0;
}

static int check_text(const json_t *pattern, const struct scope *scope, const struct where *w,
		      struct error *e)
{
	const char *at = strchr(json_string_value(pattern), '$');
	struct vars vars = scope_vars(scope);

	for (; at; at = strchr(at + 1, '$')) {
		char name[SCOPE_NAME * 2];
		size_t n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz0123456789_.");
		struct nearest near;
		uint64_t value;
		bool known;

		while (n && at[n] == '.')
			n--;
		snprintf(name, sizeof(name), "%.*s", (int)n, at + 1);
		near = nearest_to(name);
		if (vars.lookup(vars.context, name, &value, &known, &near))
			return error_name(e, w, name, near.best,
					  "a variable known here, after the $");
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
	if (is_operation(pattern))
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
	if (!json_object_size(pattern) || is_operation(pattern))
		return pattern_check(pattern, scope, w, e);
	return check_operators(pattern, scope, w, e);
}

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

static json_t *flip_parts(const json_t *pattern, unsigned *index);

/* {"gt": 3, "lt": 9} -> {"lt": 9, "not": {"gt": 3}}; a `not` becomes twice that. */
static json_t *flip_operator(const json_t *pattern, const char *key, const json_t *operand)
{
	json_t *copy = json_copy((json_t *)pattern);

	json_object_del(copy, key);
	json_object_set_new(copy, "not", json_pack("{s:O}", key, operand));
	return copy;
}

static json_t *without_last(const json_t *list)
{
	json_t *copy = json_copy((json_t *)list);

	json_array_remove(copy, json_array_size(copy) - 1);
	return copy;
}

/* Of {"of": pattern, "is": how many}: how many. What does not fit `of` may be as many. */
static json_t *flip_times(const json_t *operand, unsigned *index)
{
	for (size_t i = 0; i < elements(operand); i++) {
		const json_t *one = element(operand, i);
		json_t *is = flip_parts(json_object_get(one, "is"), index), *flipped;

		if (!is)
			continue;
		flipped = with_member(one, "is", is);
		return json_is_array(operand) ? with_element(operand, i, flipped) : flipped;
	}
	return NULL;
}

/* Of patterns under an operator: each part of each, and of `exactly` that there are so many. */
static json_t *flip_operation(const json_t *pattern, unsigned *index)
{
	const char *key;
	json_t *operand, *flipped;

	json_object_foreach((json_t *)pattern, key, operand) {
		const struct relation *op = find_operator(key);

		if (op->shape == NAME) /* anything fits */
			continue;
		if (op->shape != PATTERNS || !strcmp(key, "never")) {
			if (!(*index)--)
				return flip_operator(pattern, key, operand);
			continue;
		}
		flipped = strcmp(key, "times") ? flip_parts(operand, index)
					       : flip_times(operand, index);
		if (!flipped && !strcmp(key, "exactly") && json_array_size(operand) && !(*index)--)
			flipped = without_last(operand);
		if (flipped)
			return with_member(pattern, key, flipped);
	}
	return NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the pattern */
static json_t *flip_parts(const json_t *pattern, unsigned *index)
{
	json_t *item, *flipped;
	const char *key;
	size_t i;

	if (is_operation(pattern))
		return flip_operation(pattern, index);
	json_object_foreach((json_t *)pattern, key, item) {
		flipped = flip_parts(item, index);
		if (flipped)
			return with_member(pattern, key, flipped);
	}
	json_array_foreach(pattern, i, item) {
		flipped = flip_parts(item, index);
		if (flipped)
			return with_element(pattern, i, flipped);
	}
	if (json_is_object(pattern) || json_array_size(pattern))
		return NULL;
	return (*index)-- ? NULL : turned(pattern);
}

json_t *pattern_flip(const json_t *pattern, unsigned *index)
{
	return flip_parts(pattern, index);
}
