/* SPDX-License-Identifier: MIT */
/*
 * The small expressions in which cases give numbers. Precedence climbing, one character of
 * lookahead; there are no parentheses, so the recursion is as deep as there are levels of
 * precedence.
 */
#include "abi/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/ascii.h"

struct parse {
	const char *at;
	const struct vars *vars;
	const struct where *where;
	struct error *error;
	const char *whole;
};

static int broken(struct parse *p, const char *what)
{
	char got[160];

	snprintf(got, sizeof(got), "\"%.100s\", stuck at \"%.30s\"", p->whole, p->at);
	return error_text(p->error, p->where, got, "%s", what);
}

static int beyond(struct parse *p)
{
	char got[160];

	snprintf(got, sizeof(got), "\"%.100s\", which does not fit 64 bits", p->whole);
	error_text(p->error, p->where, got, "results of -(1<<63) to 0xffffffffffffffff");
	return -ERANGE;
}

static void skip_space(struct parse *p)
{
	p->at += strspn(p->at, " ");
}

static int variable(struct parse *p, struct value *out)
{
	_Static_assert(VARIABLE_NAME == 64, "as the message says");
	char name[VARIABLE_NAME];
	size_t n = 0;
	struct nearest near;
	int err;

	for (p->at++; *p->at && (ascii_is_alnum(*p->at) || strchr("_.:", *p->at)); p->at++) {
		if (n + 1 >= sizeof(name))
			return broken(p, "a variable's name of less than 64 characters");
		name[n++] = *p->at;
	}
	name[n] = '\0';
	near = nearest_to(name);
	*out = (struct value){.known = true};
	err = p->vars ? p->vars->lookup(p->vars->context, name, out, &near) : -ENOENT;
	if (err == -ENOENT)
		return error_name(p->error, p->where, name, near.best,
				  "a variable known here, after the $ (perfabi help variables)");
	if (err)
		return error_name(p->error, p->where, name, NULL,
				  "a variable that this machine can settle (%s)", strerror(-err));
	return 0;
}

static int literal(struct parse *p, struct value *out)
{
	char *end;

	if (!ascii_is_digit(*p->at))
		return broken(
			p, "a number, \"0x...\", an expression such as \"1<<25\", or a $variable");
	errno = 0;
	*out = (struct value){.bits = strtoull(p->at, &end, p->at[1] == 'x' ? 16 : 10),
			      .known = true};
	if (errno)
		return broken(p, "a number of at most 64 bits");
	p->at = end;
	return 0;
}

/* A number as its sign and its magnitude, for the range of each operator's result. */
struct number {
	uint64_t magnitude;
	bool is_negative;
};

static struct number signed_of(const struct value *value)
{
	return (struct number){.magnitude = value->negative ? -value->bits : value->bits,
			       .is_negative = value->negative};
}

/* False where it is below -(2^63). */
static bool put(struct value *out, struct number n)
{
	out->negative = n.is_negative && n.magnitude;
	out->bits = n.is_negative ? -n.magnitude : n.magnitude;
	return !n.is_negative || n.magnitude <= UINT64_C(1) << 63;
}

static int primary(struct parse *p, struct value *out)
{
	bool minus = false;
	struct number n;
	int err;

	for (skip_space(p); *p->at == '-'; skip_space(p)) {
		minus = !minus;
		p->at++;
	}
	err = *p->at == '$' ? variable(p, out) : literal(p, out);
	if (err || !minus)
		return err;
	n = signed_of(out);
	n.is_negative = !n.is_negative;
	return put(out, n) ? 0 : beyond(p);
}

/* The operators, loosest first. */
static const char *const operators[][2] = {{"|"}, {"<<", ">>"}, {"+", "-"}, {"*"}};
enum { LEVELS = sizeof(operators) / sizeof(operators[0]) };

static const char *operator_here(struct parse *p, size_t level)
{
	skip_space(p);
	for (size_t i = 0; i < 2 && operators[level][i]; i++) {
		size_t n = strlen(operators[level][i]);

		if (strncmp(p->at, operators[level][i], n))
			continue;
		p->at += n;
		return operators[level][i];
	}
	return NULL;
}

/* In two's complement of any length: what is or-ed with a number below zero is below it. */
static void or_with(struct value *left, const struct value *right)
{
	left->bits |= right->bits;
	left->negative = left->negative || right->negative;
	left->known = left->known && right->known;
}

/* False where the result is beyond 64 bits. */
static bool apply(const char *op, struct value *left, const struct value *right)
{
	struct number a = signed_of(left), b = signed_of(right);

	left->known = left->known && right->known;
	switch (op[0]) {
	case '|':
		or_with(left, right);
		return true;
	case '<':
		if (b.is_negative || b.magnitude > 63 ||
		    a.magnitude << b.magnitude >> b.magnitude != a.magnitude)
			return false;
		a.magnitude <<= b.magnitude;
		break;
	case '>': /* of what is not below zero: what falls out at the end is gone */
		if (a.is_negative || b.is_negative || b.magnitude > 63)
			return false;
		a.magnitude >>= b.magnitude;
		break;
	case '*':
		a.is_negative = a.is_negative != b.is_negative;
		if (__builtin_mul_overflow(a.magnitude, b.magnitude, &a.magnitude))
			return false;
		break;
	default:
		b.is_negative = b.is_negative != (op[0] == '-');
		if (a.is_negative != b.is_negative && a.magnitude < b.magnitude)
			a = (struct number){b.magnitude - a.magnitude, b.is_negative};
		else if (a.is_negative != b.is_negative)
			a.magnitude -= b.magnitude;
		else if (__builtin_add_overflow(a.magnitude, b.magnitude, &a.magnitude))
			return false;
	}
	return put(left, a);
}

/* NOLINTNEXTLINE(misc-no-recursion): one level of precedence a call, LEVELS of them */
static int climb(struct parse *p, size_t level, struct value *out)
{
	const char *op;
	int err;

	if (level == LEVELS)
		return primary(p, out);
	err = climb(p, level + 1, out);
	while (!err && (op = operator_here(p, level))) {
		struct value right;

		err = climb(p, level + 1, &right);
		if (!err && !apply(op, out, &right) && out->known)
			err = beyond(p);
	}
	return err;
}

struct value value_of_s64(int64_t number)
{
	return (struct value){.bits = (uint64_t)number, .negative = number < 0, .known = true};
}

json_t *value_json(uint64_t number)
{
	return number <= INT64_MAX ? json_integer((json_int_t)number)
				   : json_sprintf("0x%llx", (unsigned long long)number);
}

static int scalar(const json_t *json, const struct abi_family *set, const struct vars *vars,
		  const struct where *w, struct value *out, struct error *e)
{
	const char *text = json_string_value(json);
	struct parse p = {.at = text, .vars = vars, .where = w, .error = e, .whole = text};
	struct nearest near = nearest_to(text ? text : "");
	const struct abi_value *constant;
	int err;

	if (json_is_integer(json)) {
		*out = value_of_s64(json_integer_value(json));
		return 0;
	}
	if (!text)
		return error_value(e, w, json, "%s",
				   !set ? "an integer or an expression"
				   : json_is_object(json)
					   ? "an integer, an expression, a name, or a list of names"
					   : "an integer, an expression, or a name");
	/* No constant is called 0x..., and a family has many names to compare with. */
	constant = set && strncmp(text, "0x", 2) ? abi_value(set, text, &near) : NULL;
	if (constant) {
		*out = (struct value){.bits = constant->value, .known = true};
		return 0;
	}
	if (set && ((ascii_is_alnum(text[0]) && !ascii_is_digit(text[0])) || text[0] == '_'))
		return error_name(e, w, text, near.best, "a constant of %s (%s...)%s", set->name,
				  set->prefix, strpbrk(text, "|,+ ") ? "; several are a list" : "");
	err = climb(&p, 0, out);
	skip_space(&p);
	return err || !*p.at ? err : broken(&p, "an op (| << >> + - *) or the end");
}

int value_eval(const json_t *json, const struct abi_family *set, const struct vars *vars,
	       const struct where *w, struct value *out, struct error *e)
{
	json_t *part;
	size_t i;

	if (!json_is_array(json))
		return scalar(json, set, vars, w, out, e);
	if (!set && !json_array_size(json))
		return error_value(e, w, json, "a number: a list with nothing in it is none");
	*out = (struct value){.known = true};
	json_array_foreach(json, i, part) {
		struct value value;
		int err = scalar(part, set, vars, AT_INDEX(w, i), &value, e);

		if (err)
			return err;
		or_with(out, &value);
	}
	return 0;
}
