/* SPDX-License-Identifier: MIT */
/*
 * Lists of names in a print fmt: include/trace/stages/stage3_trace_output.h.
 */
#include "plan/print_fmt.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

/* What is read of C: a constant expression, in which REC->NAME has all bits. */
struct expression {
	const char *at;
	const char *field; /* behind REC->; NULL: there was none */
	bool is_changed;   /* the field, by more than a mask, or there are two */
	unsigned depth;
};

static bool skip_text(struct expression *e, const char *text)
{
	size_t n = strlen(text);

	while (isspace((unsigned char)*e->at))
		e->at++;
	if (strncmp(e->at, text, n) != 0)
		return false;
	e->at += n;
	return true;
}

static void skip_word(struct expression *e)
{
	while (isalnum((unsigned char)*e->at) || *e->at == '_')
		e->at++;
}

static bool eval(struct expression *e, unsigned lowest, uint64_t *value);

/* "(gfp_t)": what follows stays what it is. */
static bool skip_cast(struct expression *e)
{
	const char *before = e->at;

	if (skip_text(e, "(") && !skip_text(e, "REC->")) {
		while (isalpha((unsigned char)*e->at) || *e->at == '_' || *e->at == ' ')
			skip_word(e), e->at += *e->at == ' ';
		if (e->at[-1] != '(' && skip_text(e, ")"))
			return true;
	}
	e->at = before;
	return false;
}

static bool eval_operand(struct expression *e, uint64_t *value)
{
	const char *before = e->field;
	char *end;

	while (skip_cast(e))
		;
	if (skip_text(e, "REC->")) {
		e->is_changed |= e->field != NULL;
		e->field = e->at;
		skip_word(e);
		*value = UINT64_MAX;
		return true;
	}
	if (skip_text(e, "("))
		return eval(e, 0, value) && skip_text(e, ")");
	for (const char *op = "-~"; *op; op++)
		if (skip_text(e, (char[]){*op, '\0'})) {
			if (e->depth++ == DEPTH_MAX || !eval_operand(e, value))
				return false;
			e->depth--;
			e->is_changed |= e->field != before;
			*value = *op == '~' ? ~*value : -*value;
			return true;
		}
	*value = strtoull(e->at, &end, 0);
	if (!isdigit((unsigned char)*e->at))
		return false;
	e->at = end;
	skip_word(e); /* UL */
	return true;
}

/* All operators that bind at least as `lowest`. */
static bool eval(struct expression *e, unsigned lowest, uint64_t *value)
{
	static const struct {
		const char *text;
		unsigned binds;
	} ops[] = {{"<<", 4}, {">>", 4}, {"|", 1}, {"^", 2},
		   {"&", 3},  {"+", 5},  {"-", 5}, {"*", 6}};
	const char *before = e->field;
	uint64_t right;
	size_t i;

	if (e->depth++ == DEPTH_MAX || !eval_operand(e, value))
		return false;
	for (;;) {
		for (i = 0; i < 8 && (ops[i].binds <= lowest || !skip_text(e, ops[i].text)); i++)
			;
		if (i == 8)
			break;
		if (!eval(e, ops[i].binds, &right))
			return false;
		e->is_changed |= e->field != before && *ops[i].text != '&';
		switch (*ops[i].text) {
		case '<':
			*value = right < 64 ? *value << right : 0;
			break;
		case '>':
			*value = right < 64 ? *value >> right : 0;
			break;
		case '|':
			*value |= right;
			break;
		case '^':
			*value ^= right;
			break;
		case '&':
			*value &= right;
			break;
		case '+':
			*value += right;
			break;
		case '-':
			*value -= right;
			break;
		default:
			*value *= right;
		}
	}
	e->depth--;
	return true;
}

/* "HI", or "H" "I", copied; NULL: memory, or it is no text that JSON has as it is. */
static const char *take_quoted(struct expression *e, struct arena *arena)
{
	char *copy = NULL;

	while (skip_text(e, "\"")) {
		const char *text = e->at;
		size_t n = copy ? strlen(copy) : 0, more;
		char *longer;

		while (*e->at >= ' ' && *e->at <= '~' && *e->at != '\\' && *e->at != '"')
			e->at++;
		more = (size_t)(e->at - text);
		longer = *e->at == '"' ? arena_alloc(arena, n + more + 1) : NULL;
		if (!longer)
			return NULL;
		e->at++;
		memcpy(longer, copy ? copy : "", n);
		memcpy(longer + n, text, more);
		copy = longer;
	}
	return copy;
}

/* How many names a list has at most: one for each brace up to its end. */
static size_t most_names(const char *text)
{
	size_t braces = 0;

	for (int depth = 1; *text && depth; text++) {
		depth += (*text == '(') - (*text == ')');
		braces += *text == '{';
	}
	return braces;
}

/* "REC->vec, { 0, "HI" }, { 1, "TIMER" })"; of flags a delimiter is behind the field. */
static bool take_list(struct expression *e, struct arena *arena, struct abi_family *set)
{
	struct abi_value *values = arena_array(arena, most_names(e->at), sizeof(*values));
	uint64_t mask;

	if (!values || !eval(e, 0, &mask) || !e->field || e->is_changed || (!set->mask && ~mask) ||
	    (set->mask && !(skip_text(e, ",") && take_quoted(e, arena))))
		return false;
	for (set->values = values; skip_text(e, ","); set->count++, values++) {
		if (!skip_text(e, "{") || !eval(e, 0, &values->value) || !skip_text(e, ","))
			return false;
		if (skip_text(e, "((void *)0)")) /* __def_gfpflag_names ends so */
			return set->count;
		values->name = take_quoted(e, arena);
		if (!values->name || !skip_text(e, "}"))
			return false;
	}
	return set->count && skip_text(e, ")");
}

/* The number of that field, of which no names are known yet; NULL: there is none. */
static struct layout_node *nameless_number(struct layout_node *fields, size_t count,
					   const char *name)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = fields[i].name ? strlen(fields[i].name) : 0;

		if (n && !strncmp(name, fields[i].name, n) && !isalnum((unsigned char)name[n]) &&
		    name[n] != '_')
			return fields[i].kind == LAYOUT_NUMBER && !fields[i].number.set ? &fields[i]
											: NULL;
	}
	return NULL;
}

int print_fmt_names(struct arena *arena, const char *text, struct layout_node *fields, size_t count)
{
	static const struct {
		const char *call;
		bool mask;
	} calls[] = {{"symbolic(", false},
		     {"symbolic_u64(", false},
		     {"flags(", true},
		     {"flags_u64(", true}};

	while ((text = strstr(text, "__print_"))) {
		struct expression e = {.at = text += strlen("__print_")};
		struct abi_family *set = arena_alloc(arena, sizeof(*set));
		struct layout_node *node;
		size_t i;

		if (!set)
			return -ENOMEM;
		for (i = 0; i < 4 && !skip_text(&e, calls[i].call); i++)
			;
		if (i == 4)
			continue;
		*set = (struct abi_family){.mask = calls[i].mask, .is_open = true};
		if (!take_list(&e, arena, set))
			continue;
		node = nameless_number(fields, count, e.field);
		if (!node)
			continue;
		if (layout_types[node->number.type].width < 8)
			for (i = 0; i < set->count; i++)
				((struct abi_value *)set->values)[i].value &=
					((uint64_t)1 << layout_types[node->number.type].width * 8) -
					1;
		node->number.set = set;
	}
	return 0;
}
