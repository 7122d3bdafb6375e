/* SPDX-License-Identifier: MIT */
/*
 * Compiling and evaluating predicates, with three answers: what is not known may still not matter.
 * NOLINTBEGIN(misc-no-recursion): as deep as the JSON, which is bounded where it is compiled
 */
#include "model/predicate.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "machine/names.h"
#include "machine/require.h"
#include "text/ascii.h"
#include "text/say.h"
#include "text/json_text.h"

enum { DEEPEST = 16 };

static const struct {
	const char *name;
	enum comparison op;
} operators[] = {{"ne", OP_NE}, {"gt", OP_GT},   {"ge", OP_GE},           {"lt", OP_LT},
		 {"le", OP_LE}, {"has", OP_HAS}, {"without", OP_WITHOUT}, {"within", OP_WITHIN}};
enum { OPERATORS = sizeof(operators) / sizeof(operators[0]) };

/* Of `count` parts at most. */
static struct predicate *new_predicate(struct vocabulary *v, enum predicate_kind kind, size_t count)
{
	struct predicate *p = or_exit(arena_alloc(v->arena, sizeof(*p)));

	p->kind = kind;
	p->parts = count ? or_exit(arena_array(v->arena, count, sizeof(*p->parts))) : NULL;
	return p;
}

/* "sw_id.dummy": a constant of that family; "errno.EPERM". False: the text is none. */
static bool constant_named(const struct abi *abi, const char *text, uint64_t *out)
{
	const char *dot = text ? strchr(text, '.') : NULL;
	const struct abi_value *value;
	char family[32];

	if (!dot || dot == text || (size_t)(dot - text) >= sizeof(family))
		return false;
	snprintf(family, sizeof(family), "%.*s", (int)(dot - text), text);
	if (!strcmp(family, "errno")) {
		*out = (uint64_t)errno_by_name(dot + 1, NULL);
		return *out != 0;
	}
	value = abi_family(abi, family) ? abi_value(abi_family(abi, family), dot + 1, NULL) : NULL;
	*out = value ? value->value : 0;
	return value != NULL;
}

int right_side_compile(struct right_side *out, const json_t *json, const struct fact *of,
		       struct vocabulary *v, const struct where *w, struct error *e)
{
	const char *text = json_string_value(json);
	uint64_t constant;
	struct nearest near;
	struct value value;
	int index;

	if (text && text[0] == '$') {
		near = nearest_to(text + 1);
		index = facts_find(v->facts, text + 1, &near);
		if (index < 0)
			return error_name(e, w, text, near.best, "a fact, after the $");
		if (v->facts->list[index].is_signed != of->is_signed)
			return error_name(e, w, text, NULL, "a fact with a sign, or without, as %s",
					  of->name);
		*out = (struct right_side){.is_fact = true, .fact = (size_t)index};
		return 0;
	}
	if (constant_named(v->abi, text, &constant)) {
		*out = (struct right_side){.value = constant};
		return 0;
	}
	if (value_eval(json, of->names, NULL, w, &value, e))
		return -EINVAL;
	*out = (struct right_side){.value = value.bits};
	return 0;
}

bool right_side_get(const struct right_side *side, const struct facts *facts, struct evaluation *s,
		    uint64_t *value)
{
	*value = side->value;
	return !side->is_fact || fact_get(facts, side->fact, s, value);
}

static struct predicate *compile_term(size_t fact, enum comparison op, const json_t *operand,
				      struct vocabulary *v, const struct where *w, struct error *e)
{
	struct predicate *p = new_predicate(v, TERM, 0);

	p->term = (struct term){.fact = fact, .op = op};
	*v->end = &p->term;
	v->end = &p->term.next;
	if (right_side_compile(&p->term.operand, operand, &v->facts->list[fact], v, w, e))
		return NULL;
	return p;
}

static struct predicate *compile_pattern(size_t fact, const json_t *pattern, struct vocabulary *v,
					 const struct where *w, struct error *e);

static struct predicate *turned_round(struct predicate *part, struct vocabulary *v)
{
	struct predicate *p = part ? new_predicate(v, NOT, 1) : NULL;

	if (p)
		p->parts[p->count++] = part;
	return p;
}

static struct predicate *compile_operator(size_t fact, const char *name, const json_t *operand,
					  struct vocabulary *v, const struct where *w,
					  struct error *e)
{
	struct nearest near = nearest_to(name);

	if (!strcmp(name, "not"))
		return turned_round(compile_pattern(fact, operand, v, w, e), v);
	for (size_t i = 0; i < OPERATORS; i++) {
		if (!strcmp(operators[i].name, name))
			return compile_term(fact, operators[i].op, operand, v, w, e);
		nearest_try(&near, operators[i].name);
	}
	error_name(e, w, name, near.best,
		   "between, not, ne, gt, ge, lt, le, has, without or within");
	return NULL;
}

/* [lowest, highest] is two terms. */
static int add_between(struct predicate *p, size_t fact, const json_t *pair, struct vocabulary *v,
		       const struct where *w, struct error *e)
{
	if (json_array_size(pair) != 2)
		return error_value(e, w, pair, "[lowest, highest]");
	p->parts[p->count++] = compile_term(fact, OP_GE, json_array_get(pair, 0), v, w, e);
	p->parts[p->count++] = compile_term(fact, OP_LE, json_array_get(pair, 1), v, w, e);
	return error_is_set(e) ? -EINVAL : 0;
}

static struct predicate *compile_pattern(size_t fact, const json_t *pattern, struct vocabulary *v,
					 const struct where *w, struct error *e)
{
	struct predicate *p;
	const char *name;
	json_t *operand;

	if (!json_is_object(pattern))
		return compile_term(fact, OP_EQ, pattern, v, w, e);
	p = new_predicate(v, ALL, 2 * json_object_size(pattern));
	json_object_foreach((json_t *)pattern, name, operand) {
		struct where at = where_key(w, name);

		if (!strcmp(name, "between"))
			add_between(p, fact, operand, v, &at, e);
		else
			p->parts[p->count++] = compile_operator(fact, name, operand, v, &at, e);
		if (error_is_set(e))
			return NULL;
	}
	if (!p->count) {
		error_value(e, w, pattern, "an operator");
		return NULL;
	}
	return p;
}

/* What machine the token is about is not the caller's affair: no token here asks who calls. */
static struct predicate *compile_token(const json_t *json, struct vocabulary *v,
				       const struct where *w, struct error *e)
{
	const char *token = json_string_value(json);
	struct predicate *p = new_predicate(v, TOKEN, 0);
	char found[256];
	int truth;

	if (!token) {
		error_value(e, w, json, "a token, such as kernel>=6.2");
		return NULL;
	}
	if (require_check(token, v->abi, w, e))
		return NULL;
	p->token = token;
	truth = v->env ? require_truth(v->env, token, AS_USER, found, sizeof(found)) : -1;
	p->settled = truth < 0 ? NOT_KNOWN : truth ? HOLDS : DOES_NOT_HOLD;
	return p;
}

static struct predicate *compile_list(const json_t *list, bool is_any, struct vocabulary *v,
				      const struct where *w, struct error *e)
{
	struct predicate *p;
	json_t *item;
	size_t i;

	if (!json_array_size(list)) {
		error_value(e, w, list, "a list of conditions");
		return NULL;
	}
	p = new_predicate(v, is_any ? ANY : ALL, json_array_size(list));
	json_array_foreach(list, i, item) {
		p->parts[p->count] = predicate_compile(item, v, AT_INDEX(w, i), e);
		if (!p->parts[p->count++])
			return NULL;
	}
	return p;
}

/* A name of cases/model.json, as true or false. */
static struct predicate *compile_named(const char *name, const json_t *truth, struct vocabulary *v,
				       const struct where *w, struct error *e)
{
	const json_t *named = json_object_get(v->terms, name);
	struct nearest near = nearest_to(name);
	struct predicate *p;
	const char *other;
	json_t *item;

	if (!named) {
		json_object_foreach((json_t *)v->terms, other, item)
			nearest_try(&near, other);
		for (size_t i = 0; i < v->facts->count; i++)
			nearest_try(&near, v->facts->list[i].name);
		error_name(e, w, name, near.best,
			   "a fact, a term of model.json, token, all, any or not");
		return NULL;
	}
	if (!json_is_boolean(truth)) {
		error_value(e, w, truth, "true or false");
		return NULL;
	}
	p = predicate_compile(json_object_get(named, "if"), v, w, e);
	return json_is_true(truth) ? p : turned_round(p, v);
}

static struct predicate *compile_member(const char *name, const json_t *json, struct vocabulary *v,
					const struct where *w, struct error *e)
{
	int fact = facts_find(v->facts, name, NULL);

	if (fact >= 0)
		return compile_pattern((size_t)fact, json, v, w, e);
	if (!strcmp(name, "token"))
		return compile_token(json, v, w, e);
	if (!strcmp(name, "all") || !strcmp(name, "any"))
		return compile_list(json, name[1] == 'n', v, w, e);
	if (!strcmp(name, "not"))
		return turned_round(predicate_compile(json, v, w, e), v);
	return compile_named(name, json, v, w, e);
}

struct predicate *predicate_compile(const json_t *json, struct vocabulary *v, const struct where *w,
				    struct error *e)
{
	struct predicate *p = NULL;
	const char *name;
	json_t *value;

	if (!json_object_size(json)) {
		error_value(e, w, json, "an object of conditions");
		return NULL;
	}
	if (v->depth == DEEPEST) {
		error_value(e, w, json, "conditions at most 16 deep");
		return NULL;
	}
	p = new_predicate(v, ALL, json_object_size(json));
	if (!v->depth++)
		v->end = &p->terms;
	json_object_foreach((json_t *)json, name, value) {
		struct where at = where_key(w, name);

		if (!p)
			break;
		p->parts[p->count] = compile_member(name, value, v, &at, e);
		if (!p->parts[p->count++])
			p = NULL;
	}
	v->depth--;
	return p;
}

int predicate_read(struct doc *d, const json_t *json, void *predicate, const struct where *w)
{
	struct predicate *p = predicate_compile(json, d->context, w, d->e);

	memcpy(predicate, &p, sizeof(p));
	return p ? 0 : -EINVAL;
}

static bool holds_between(enum comparison op, bool is_signed, uint64_t a, uint64_t b)
{
	int order = is_signed ? ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b)
			      : (a > b) - (a < b);

	switch (op) {
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_GT:
		return order > 0;
	case OP_GE:
		return order >= 0;
	case OP_LT:
		return order < 0;
	case OP_LE:
		return order <= 0;
	case OP_HAS:
		return (a & b) == b;
	case OP_WITHOUT:
		return !(a & b);
	case OP_WITHIN:
		return !(a & ~b);
	}
	return false;
}

enum truth predicate_term_holds(const struct term *term, const struct facts *facts,
				struct evaluation *s, const struct fact **why)
{
	const struct fact *fact = &facts->list[term->fact], *unknown = NULL;
	uint64_t a, b;

	if (!fact_get(facts, term->fact, s, &a))
		unknown = fact;
	else if (!right_side_get(&term->operand, facts, s, &b))
		unknown = &facts->list[term->operand.fact];
	if (unknown && why)
		*why = unknown;
	if (unknown)
		return NOT_KNOWN;
	return holds_between(term->op, fact->is_signed, a, b) != term->is_turned ? HOLDS
										 : DOES_NOT_HOLD;
}

/* Of all: what does not hold decides; of any: what holds; else what is not known. */
static enum truth list_holds(const struct predicate *p, const struct facts *facts,
			     struct evaluation *s, const struct fact **why)
{
	enum truth deciding = p->kind == ANY ? HOLDS : DOES_NOT_HOLD;
	enum truth result = p->kind == ANY ? DOES_NOT_HOLD : HOLDS;

	for (size_t i = 0; i < p->count; i++) {
		enum truth part = predicate_holds(p->parts[i], facts, s, why);

		if (part == deciding)
			return part;
		if (part == NOT_KNOWN)
			result = NOT_KNOWN;
	}
	return result;
}

enum truth predicate_holds(const struct predicate *p, const struct facts *facts,
			   struct evaluation *s, const struct fact **why)
{
	enum truth part;

	switch (p->kind) {
	case TERM:
		return predicate_term_holds(&p->term, facts, s, why);
	case TOKEN:
		return p->settled;
	case NOT:
		part = predicate_holds(p->parts[0], facts, s, why);
		return part == NOT_KNOWN ? part : part == HOLDS ? DOES_NOT_HOLD : HOLDS;
	default:
		return list_holds(p, facts, s, why);
	}
}

/* NOLINTEND(misc-no-recursion) */

/*
 * Sentences with facts in them.
 */

enum { SENTENCE_MAX = 1024 };

/* The length of the name behind a $, without a full stop that ends it. */
static size_t name_length(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.");

	while (n && text[n - 1] == '.')
		n--;
	return n;
}

static int compile_piece(struct piece *out, const char **text, const struct facts *facts,
			 const struct where *w, struct error *e)
{
	char name[64];
	struct nearest near;
	size_t n;

	*out = (struct piece){.text = *text, .length = strcspn(*text, "$"), .fact = -1};
	*text += out->length;
	if (!**text)
		return 0;
	n = name_length(*text + 1);
	snprintf(name, sizeof(name), "%.*s", (int)n, *text + 1);
	near = nearest_to(name);
	out->fact = facts_find(facts, name, &near);
	*text += 1 + n;
	return out->fact < 0 ? error_name(e, w, name, near.best, "a fact, after the $") : 0;
}

int sentence_read(struct doc *d, const json_t *json, void *sentence, const struct where *w)
{
	const struct vocabulary *v = d->context;
	const char *text = json_string_value(json);
	struct sentence *out = sentence;
	size_t most = 1;

	if (!text || !one_line(text))
		return error_value(d->e, w, json, "a sentence, one line");
	for (const char *at = text; *at; at++)
		most += *at == '$';
	out->pieces = or_exit(arena_array(d->arena, most, sizeof(*out->pieces)));
	while (*text)
		if (compile_piece(&out->pieces[out->count++], &text, v->facts, w, d->e))
			return -EINVAL;
	return 0;
}

int sentence_constant(const char *prefix, const char *name, char *out, size_t size)
{
	/* A number is better read without what C puts before it: HW_BREAKPOINT_LEN_4. */
	int n = snprintf(out, size, "%s%s", isdigit((unsigned char)name[0]) ? "" : prefix, name);

	for (char *c = out; prefix[0] && size && *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return n;
}

/* The bits by name, and what has none as a number. */
static int print_bits(const struct abi_family *family, uint64_t value, char *out, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < family->count && at + 2 < size; i++) {
		uint64_t bit = family->values[i].value;

		if (!bit || (value & bit) != bit)
			continue;
		if (at)
			out[at++] = '|';
		at += (size_t)sentence_constant(family->prefix, family->values[i].name, out + at,
						size - at);
		value &= ~bit;
	}
	if (value && at < size)
		at += (size_t)snprintf(out + at, size - at, "%s%#llx", at ? "|" : "",
				       (unsigned long long)value);
	return (int)at;
}

/* A count as people write it; masks and addresses in hexadecimal. */
static int print_fact(const struct fact *fact, const struct evaluation *s, uint64_t value,
		      char *out, size_t size)
{
	const struct abi_value *name = fact->names ? abi_value_of(fact->names, value) : NULL;

	if (fact->print)
		return fact->print(fact, s, value, out, size);
	if (name)
		return sentence_constant(fact->names->prefix, name->name, out, size);
	if (fact->names && fact->names->mask && value)
		return print_bits(fact->names, value, out, size);
	if (fact->is_signed)
		return snprintf(out, size, "%lld", (long long)value);
	if (fact->is_mask || value > UINT64_C(1) << 40)
		return snprintf(out, size, "%#llx", (unsigned long long)value);
	return snprintf(out, size, "%llu", (unsigned long long)value);
}

void sentence_write(const struct sentence *sentence, const struct facts *facts,
		    struct evaluation *s, char *out, size_t size)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sentence->count && at + 1 < size; i++) {
		const struct piece *piece = &sentence->pieces[i];
		size_t n = piece->length < size - at ? piece->length : size - at - 1;
		uint64_t value;
		int printed = 0;

		memcpy(out + at, piece->text, n);
		at += n;
		out[at] = '\0';
		if (piece->fact >= 0 && fact_get(facts, (size_t)piece->fact, s, &value))
			printed = print_fact(&facts->list[piece->fact], s, value, out + at,
					     size - at);
		else if (piece->fact >= 0)
			printed = snprintf(out + at, size - at, "unknown");
		at += printed > 0 ? (size_t)printed : 0;
	}
}

void sentence_tell(const struct sentence *sentence, const struct facts *facts, struct evaluation *s,
		   json_t *json, const char *key)
{
	char text[SENTENCE_MAX];

	if (!sentence->count)
		return;
	sentence_write(sentence, facts, s, text, sizeof(text));
	json_object_set_new(json, key, json_string(text));
}

/*
 * Whether what a sentence names is what its condition is about.
 */

enum { SENTENCES_DEEP = 16 };

/* An object on the way down to a sentence. */
struct enclosing {
	const json_t *object;
	const struct enclosing *in;
};

/* Whether a condition of one of these objects has one of the texts. */
static bool has_condition(const struct enclosing *in, const char *const *by)
{
	static const char *const keys[] = {"if", "may", "when", "token", "named", NULL};
	bool found = false;

	for (; in && !found; in = in->in) {
		for (size_t i = 0; keys[i] && !found; i++) {
			const json_t *condition = json_object_get(in->object, keys[i]);
			char *text =
				condition ? or_exit(json_text(condition, JSON_ENCODE_ANY)) : NULL;

			for (size_t j = 0; text && by[j]; j++)
				found |= strstr(text, by[j]) != NULL;
			free(text);
		}
	}
	return found;
}

/* What the text names without a condition, or NULL. */
static const char *unconditional(const char *text, const struct enclosing *in,
				 const struct model_file *file)
{
	for (size_t i = 0; i < file->own_name_count; i++)
		for (const char *const *name = file->own_names[i].names; *name; name++)
			if (ascii_has_name(text, *name) &&
			    !has_condition(in, file->own_names[i].by))
				return *name;
	return NULL;
}

static int check_below(const json_t *json, const struct model_file *file,
		       const struct enclosing *in, unsigned deep, const struct where *w,
		       struct error *e)
{
	static const char *const sentences[] = {"because", "instead", "says", "loses", NULL};
	struct enclosing own = {json, in};
	const char *key, *name;
	json_t *value;
	int err = 0;

	if (deep == SENTENCES_DEEP)
		return error_text(e, w, "more", "at most %d values within each other",
				  SENTENCES_DEEP);
	for (size_t i = 0; i < json_array_size(json) && !err; i++)
		err = check_below(json_array_get(json, i), file, in, deep + 1, AT_INDEX(w, i), e);
	json_object_foreach((json_t *)json, key, value) {
		const struct where at = where_key(w, key);

		if (err)
			break;
		if (!json_is_string(value))
			err = check_below(value, file, &own, deep + 1, &at, e);
		else if (name_index(key, sentences, NULL) >= 0 &&
			 (name = unconditional(json_string_value(value), &own, file)))
			err = error_text(e, &at, name,
					 "no name of what only some machines have, or a condition "
					 "that is about it (own_names in model.json)");
	}
	return err;
}

int sentences_check(const struct source *source, const struct model_file *file, struct error *e)
{
	const struct where root = where_root(source);
	json_t *json = source_parse(source, e);
	int err = json ? check_below(json, file, NULL, 0, &root, e) : -EINVAL;

	json_decref(json);
	return err;
}
