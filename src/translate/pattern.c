/* SPDX-License-Identifier: MIT */
/*
 * Patterns as conditions in C. What needs a look at each element of a list becomes a function that
 * counts those that fit.
 */
#include <string.h>

#include "language/merge.h"
#include "translate/translate.h"

static const char *condition(struct translation *t, const struct pattern *p,
			     const struct c_value *s);

static const char *count_in_c(const struct c_value *s, struct translation *t)
{
	return c_text(t, "%s_nr", s->c);
}

static const char *both(struct translation *t, const char *a, const char *b)
{
	if (!a[0] || !b[0])
		return a[0] ? a : b;
	return c_text(t, "%s && %s", a, b);
}

/*
 * A loop in front of the check, which leaves in a variable how many elements fit. A loop for a list
 * within these elements comes to stand within it.
 */
static const char *fitting(struct translation *t, const struct pattern *p, const struct c_value *s)
{
	const char *name = c_text(t, "fit_%u", ++t->functions_made);
	const char *index = c_text(t, "i_%u", t->functions_made), *inner;
	struct c_value element = c_element(t, s, index);

	c_declare(t, name, "uint64_t");
	c_line(t, "%s = 0;", name);
	c_line(t, "for (uint64_t %s = 0; %s < %s; %s++) {", index, index, count_in_c(s, t), index);
	t->indent++;
	inner = condition(t, p, &element);
	c_line(t, "%s += %s;", name, inner[0] ? c_text(t, "(%s)", inner) : "1");
	t->indent--;
	c_line(t, "}");
	return name;
}

/* A value's name in its family. cpumode is an enum below a mask's bits. */
static const char *mask_in_c(struct translation *t, const struct c_value *s, const json_t *names,
			     const char **low)
{
	const struct c_member *m = s->member;
	const char *bits = "";

	*low = "";
	for (size_t i = 0; i < elements(names); i++) {
		const json_t *one = element(names, i);
		const char *text = json_string_value(one);

		if (m && m->rest && text && abi_value(m->set, text, NULL))
			*low = c_number(t, one, m->set);
		else
			bits = c_text(
				t, "%s%s%s", bits, bits[0] ? " | " : "",
				m && m->prefix
					? c_capitals(t, m->prefix, text)
					: c_number(t, one, m ? m->rest ? m->rest : m->set : NULL));
	}
	return bits;
}

/* All of the names, or none of them. */
static const char *has_names(struct translation *t, const struct c_value *s, const json_t *names,
			     bool has)
{
	const char *low, *bits = mask_in_c(t, s, names, &low), *a = "", *b = "";

	if (low[0])
		a = c_text(t, "(%s & 7) %s %s", s->c, has ? "==" : "!=", low);
	if (bits[0])
		b = has ? c_text(t, "(%s & (%s)) == (%s)", s->c, bits, bits)
			: c_text(t, "!(%s & (%s))", s->c, bits);
	return both(t, a, b);
}

static const char *relation(struct translation *t, const struct c_value *s, const char *operator,
			    const json_t * operand)
{
	const char *bound = c_number(t, operand, NULL);

	if (!strcmp(operator, ">=") && !strcmp(bound, "0")) /* no number here is below zero */
		return "";
	return c_text(t, "%s %s %s", s->c, operator, c_cast(t, "uint64_t", bound));
}

/* By what says at run time whether a member is there; "" is always, "0" never. */
static const char *absent(struct translation *t, const json_t *truth, const struct c_value *s)
{
	const char *there = s->member ? "" : "0", *dot = strrchr(s->c, '.');

	if (s->member && s->member->has && s->kind == C_OBJECT)
		there = c_text(t, "%s.%s", s->c, s->member->has);
	else if (s->member && s->member->has)
		there = c_text(t, "%.*s%s", dot ? (int)(dot + 1 - s->c) : 0, s->c, s->member->has);
	if (json_is_true(truth))
		return !strcmp(there, "0") ? "" : there[0] ? c_text(t, "!%s", there) : "0";
	return there;
}

static const char *bound_in_c(struct translation *t, const json_t *json, const struct c_value *s)
{
	const char *name = json_string_value(json);
	struct c_shape shape = {.kind = s->kind == C_BYTES ? C_BYTES : C_NUMBER};
	struct c_name *to;

	if (!s->is_certain || (s->kind != C_NUMBER && s->kind != C_BITS && s->kind != C_BYTES)) {
		c_missing(t, "a value like \"%s\" that a pattern binds", name);
		return "";
	}
	to = c_bind(t, name, s->kind == C_BYTES ? "const unsigned char *" : "uint64_t", &shape);
	if (!to)
		return "";
	c_line(t, "%s = %s;", to->c, s->c);
	if (s->kind == C_BYTES)
		c_line(t, "%s = %s_nr;", c_declare(t, c_text(t, "%s_nr", to->c), "uint64_t"), s->c);
	return "";
}

/* What must hold; or nothing is left of it, if it is said at once. */
static const char *said(struct translation *t, const char *must, const struct c_value *s)
{
	const char *all = "", *end;

	if (!s->is_said || !must[0])
		return must;
	while ((all[0] || strlen(must) >= 80) && (end = strstr(must, " && "))) { /* a line each */
		all = c_text(t, "%s%.*s &&\n%*s", all, (int)(end - must), must, 8 * t->indent + 7,
			     "");
		must = end + 4;
	}
	must = c_text(t, "%s%s", all, must);
	if (s->kind == C_NUMBER || s->kind == C_BITS)
		c_line(t, "expect(%s, %s);", must, s->c);
	else if (s->kind == C_LIST)
		c_line(t, "expect(%s, %s_nr);", must, s->c);
	else if (s->kind == C_STRING)
		c_line(t, "expect_text(%s, %s);", must, s->c);
	else
		c_line(t, "expect(%s, 0);", must);
	return "";
}

/* The list's elements and no others, in order. */
static const char *exactly_in_c(struct translation *t, const struct pattern *p,
				const struct c_value *s)
{
	const char *all = said(t, c_text(t, "%s == %zu", count_in_c(s, t), p->count), s);

	for (size_t i = 0; i < p->count; i++) {
		struct c_value element = c_element(t, s, c_text(t, "%zu", i));

		element.is_certain = s->is_certain;
		element.is_said = s->is_said;
		all = both(t, all, condition(t, &p->parts[i], &element));
	}
	return all;
}

static const char *in_order(struct translation *t, const struct pattern *p, const struct c_value *s)
{
	const char *name = c_text(t, "at_%u", ++t->functions_made);
	struct c_value element = c_element(t, s, name);

	c_declare(t, name, "uint64_t");
	c_line(t, "%s = 0;", name);
	for (size_t i = 0; i < p->count; i++) {
		const char *inner = condition(t, &p->parts[i], &element);

		c_line(t, "while (%s < %s && !(%s))", name, count_in_c(s, t), inner);
		c_line(t, "\t%s++;", name);
		if (i + 1 < p->count)
			c_line(t, "%s++;", name);
	}
	return c_text(t, "%s < %s", name, count_in_c(s, t));
}

static const char *number_of_elements(struct translation *t, const struct pattern *p, const char *c,
				      bool is_certain)
{
	const struct c_value s = {.c = c, .path = "", .kind = C_NUMBER, .is_certain = is_certain};

	return condition(t, p, &s);
}

static const char *some(struct translation *t, const struct pattern *p, const struct c_value *s,
			const char *behind)
{
	const char *all = "";

	for (size_t i = 0; i < p->count; i++)
		all = both(t, all, c_text(t, "%s %s", fitting(t, &p->parts[i], s), behind));
	return all;
}

static const char *times(struct translation *t, const struct pattern *p, const struct c_value *s)
{
	const char *all = "";

	for (size_t i = 0; i < p->count; i++) {
		const struct pattern *of = p->parts[i].parts, *is = of + 1;

		all = both(t, all, number_of_elements(t, is, fitting(t, of, s), true));
	}
	return all;
}

static const char *ascending(struct translation *t, const json_t *key, const struct c_value *s)
{
	const char *name = c_text(t, "descents_%u", ++t->functions_made);
	const char *member = json_string_value(key);

	c_declare(t, name, "uint64_t");
	c_line(t, "%s = 0;", name);
	c_line(t, "for (uint64_t i = 1; i < %s; i++)", count_in_c(s, t));
	c_line(t, "\t%s += %s[i].%s < %s[i - 1].%s;", name, s->c, member, s->c, member);
	return c_text(t, "%s == 0", name);
}

static const char *operation(struct translation *t, const struct pattern *p,
			     const struct c_value *s)
{
	static const char *const relations[][2] = {
		{"gt", ">"}, {"ge", ">="}, {"lt", "<"}, {"le", "<="}};
	const json_t *operand = p->json;
	const char *name = p->op->name;
	struct c_value whole = *s;
	const char *inner;

	whole.is_said = false;
	for (size_t i = 0; i < 4; i++)
		if (!strcmp(name, relations[i][0]))
			return relation(t, s, relations[i][1], operand);
	if (!strcmp(name, "between"))
		return both(t, relation(t, s, ">=", json_array_get(operand, 0)),
			    relation(t, s, "<=", json_array_get(operand, 1)));
	if (!strcmp(name, "has") || !strcmp(name, "without"))
		return has_names(t, s, operand, name[0] == 'h');
	if (!strcmp(name, "absent"))
		return absent(t, operand, s);
	if (!strcmp(name, "bind"))
		return bound_in_c(t, operand, s);
	if (!strcmp(name, "like"))
		return c_text(t, "!fnmatch(%s, %s, 0)", c_string(t, operand), s->c);
	if (!strcmp(name, "length"))
		return number_of_elements(t, p->parts, count_in_c(s, t), s->is_certain);
	if (!strcmp(name, "exactly"))
		return exactly_in_c(t, p, &whole);
	if (!strcmp(name, "in-order"))
		return in_order(t, p, s);
	if (!strcmp(name, "some"))
		return some(t, p, s, "> 0");
	if (!strcmp(name, "never"))
		return some(t, p, s, "== 0");
	if (!strcmp(name, "every"))
		return both(t, c_text(t, "%s > 0", count_in_c(s, t)),
			    c_text(t, "%s == %s", fitting(t, p->parts, s), count_in_c(s, t)));
	if (!strcmp(name, "times"))
		return times(t, p, s);
	if (!strcmp(name, "ascending"))
		return ascending(t, operand, s);
	if (!strcmp(name, "first-u16") || !strcmp(name, "last-u64")) {
		whole.c = c_text(t, "%s(%s, %s_nr)", name[0] == 'f' ? "first_u16" : "last_u64",
				 s->c, s->c);
		return relation(t, &whole, "==", operand);
	}
	whole.is_certain = false;
	if (!strcmp(name, "not") || !strcmp(name, "ne")) {
		inner = condition(t, p->parts, &whole);
		return inner[0] ? c_text(t, "!(%s)", inner) : "0";
	}
	c_missing(t, "the pattern \"%s\"", name);
	return "0";
}

static const char *equal(struct translation *t, const json_t *pattern, const struct c_value *s)
{
	const char *text = json_string_value(pattern), *low, *bits;

	if (s->kind == C_STRING && text && text[0] == '$') {
		struct c_value other;

		if (c_variable(t, text + 1, &other) && other.kind == C_STRING)
			return c_text(t, "!strcmp(%s, %s)", s->c, other.c);
	}
	if (s->kind == C_STRING)
		return c_text(t, "!strcmp(%s, %s)", s->c, c_string(t, pattern));
	if (s->kind == C_BYTES) {
		struct c_value other = {.c = text ? c_quote(t, text) : "\"\"", .kind = C_STRING};

		if (!text || (text[0] == '$' && !c_variable(t, text + 1, &other)))
			c_missing(t, "bytes that are no text");
		else if (other.kind == C_BYTES)
			return c_text(t, "same_bytes(%s, %s_nr, %s, %s_nr)", s->c, s->c, other.c,
				      other.c);
		return c_text(t, "is_hex(%s, %s_nr, %s)", s->c, s->c, other.c);
	}
	if (s->kind == C_BITS && (json_is_array(pattern) || (text && text[0] != '$'))) {
		bits = mask_in_c(t, s, pattern,
				 &low); /* these and no others; or one that is a value */
		return c_text(t, "%s == (uint64_t)(%s%s%s)", s->c, low,
			      low[0] && bits[0] ? " | " : "", low[0] || bits[0] ? bits : "0");
	}
	if (s->kind == C_LIST || s->kind == C_OBJECT) {
		c_missing(t, "a comparison of lists or objects");
		return "0";
	}
	return relation(t, s, "==", pattern);
}

/* What must hold: "" is nothing, or all was said. As deep as the pattern's JSON. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static const char *condition(struct translation *t, const struct pattern *p,
			     const struct c_value *s)
{
	const char *all = "";

	if (p->kind == PATTERN_ELEMENTS && s->kind == C_LIST)
		return exactly_in_c(t, p, s);
	for (size_t i = 0; p->kind == PATTERN_MEMBERS && i < p->count; i++) {
		const struct pattern *part = &p->parts[i];
		struct c_value below = *s;

		if (c_enter(t, &below, part->key, strlen(part->key)))
			all = both(t, all, condition(t, part, &below));
		else if (json_is_true(json_object_get(part->json, "absent")))
			continue; /* the layout does not have it here, as the pattern says */
		else if (s->is_said)
			c_missing(t, "\"%s\", which is not there", part->key);
		else
			all = both(t, all, "0");
	}
	if (p->kind == PATTERN_MEMBERS)
		return all;
	if (p->kind != PATTERN_OPERATORS)
		return said(t, equal(t, p->json, s), s);
	for (size_t i = 0; i < p->count; i++) {
		const struct pattern *part = &p->parts[i];

		all = both(t, all,
			   s->kind == C_LIST && !strcmp(part->key, "exactly")
				   ? exactly_in_c(t, part, s)
				   : said(t, operation(t, part, s), s));
	}
	return all;
}

void c_expect_value(struct translation *t, const struct pattern *pattern,
		    const struct c_value *value)
{
	struct c_value s = *value;

	s.is_certain = s.is_said = true;
	condition(t, pattern, &s);
}

void c_expect(struct translation *t, const struct pattern *pattern, const char *c,
	      const struct c_shape *shape)
{
	c_expect_value(t, pattern,
		       &(struct c_value){
			       .c = c, .kind = shape->kind, .members = shape->members, .path = ""});
}
