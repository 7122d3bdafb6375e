/* SPDX-License-Identifier: MIT */
/*
 * The names that the print fmt of a tracepoint's format gives to values of its fields:
 * include/trace/stages/stage3_trace_output.h.
 */
#include "plan/format.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEPTH_MAX = 64 };

/* What is read of C: a constant expression, in which REC->NAME has all bits. */
struct expression {
	char *at;
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
	char *before = e->at;

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
	/* From glibc 2.38 on strtoull takes 0b11, which libtraceevent does not. */
	if (!isdigit((unsigned char)*e->at) || strncasecmp(e->at, "0b", 2) == 0)
		return false;
	*value = strtoull(e->at, &end, 0);
	e->at = end + strspn(end, "uUlL");
	return !isalnum((unsigned char)*e->at) && *e->at != '_';
}

static uint64_t apply_operator(char op, uint64_t left, uint64_t right)
{
	switch (op) {
	case '<':
		return right < 64 ? left << right : 0;
	case '>':
		return right < 64 ? left >> right : 0;
	case '|':
		return left | right;
	case '^':
		return left ^ right;
	case '&':
		return left & right;
	case '+':
		return left + right;
	case '-':
		return left - right;
	default:
		return left * right;
	}
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
		if (*ops[i].text == '>' && *value >> 63) /* with a sign, which stays */
			return false;
		*value = apply_operator(*ops[i].text, *value, right);
	}
	e->depth--;
	return true;
}

/* "HI", or "H" "I", ended by a NUL where it stands; NULL: it is no text that JSON has as it is. */
static const char *take_quoted(struct expression *e)
{
	char *begin = NULL, *to = NULL;

	while (skip_text(e, "\"")) {
		begin = begin ? begin : e->at;
		to = to ? to : e->at;
		while (*e->at >= ' ' && *e->at <= '~' && *e->at != '\\' && *e->at != '"')
			*to++ = *e->at++;
		if (*e->at++ != '"')
			return NULL;
	}
	if (begin)
		*to = '\0';
	return begin;
}

struct names {
	struct abi_value *list;
	size_t count, capacity;
};

/* "REC->vec, { 0, "HI" }, { 1, "TIMER" })"; of flags a delimiter is behind the field. 1; 0: it is
 * something else; or -ENOMEM. */
static int take_list(struct expression *e, bool is_mask, struct names *names)
{
	uint64_t value;

	names->count = 0;
	if (!eval(e, 0, &value) || !e->field || e->is_changed || (!is_mask && ~value) ||
	    (is_mask && !(skip_text(e, ",") && take_quoted(e))))
		return 0;
	while (skip_text(e, ",")) {
		struct expression constant = {.at = e->at};
		const char *name;

		if (!skip_text(&constant, "{") || !eval(&constant, 0, &value) || constant.field ||
		    !skip_text(&constant, ","))
			return 0;
		e->at = constant.at;
		if (skip_text(e, "((void *)0)")) /* __def_gfpflag_names ends so */
			return names->count > 0;
		name = take_quoted(e);
		if (!name || !skip_text(e, "}"))
			return 0;
		if (list_grow(&names->list, names->count, &names->capacity, sizeof(*names->list)))
			return -ENOMEM;
		names->list[names->count++] = (struct abi_value){.name = name, .value = value};
	}
	return names->count && skip_text(e, ")");
}

/* The number of that field; NULL: there is none. */
static struct layout_node *number_of(struct layout_node *fields, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = fields[i].name ? strlen(fields[i].name) : 0;

		if (n && !strncmp(name, fields[i].name, n) && !isalnum((unsigned char)name[n]) &&
		    name[n] != '_')
			return fields[i].kind == LAYOUT_NUMBER ? &fields[i] : NULL;
	}
	return NULL;
}

/* Leaves those that the number can be: the kernel compares it as an unsigned long. */
static void drop_others(struct names *names, enum layout_type type)
{
	bool is_signed = type == LAYOUT_S8 || type == LAYOUT_S16 || type == LAYOUT_S32;
	unsigned bits = layout_widths[type] * 8;
	uint64_t all = UINT64_MAX >> (64 - bits);
	size_t kept = 0;

	for (size_t i = 0; i < names->count; i++) {
		uint64_t value = names->list[i].value, cut = value & all;

		if (value != (is_signed && cut >> (bits - 1) ? cut | ~all : cut))
			continue;
		names->list[kept] = names->list[i];
		names->list[kept++].value = cut;
	}
	names->count = kept;
}

int print_fmt_names(struct arena *arena, char *text, struct layout_node *fields, size_t count)
{
	static const struct abi_family ambiguous;
	struct names names = {0};
	int found = 0;

	while (found >= 0 && (text = strstr(text, "__print_"))) {
		struct expression e = {.at = text + strlen("__print_")};
		struct layout_node *node;
		bool is_mask = skip_text(&e, "flags"),
		     is_call = is_mask || skip_text(&e, "symbolic");
		struct abi_family *set;

		skip_text(&e, "_u64");
		found = is_call && skip_text(&e, "(") ? take_list(&e, is_mask, &names) : 0;
		text = e.at;
		node = found > 0 ? number_of(fields, count, e.field) : NULL;
		if (!node)
			continue;
		drop_others(&names, node->number.type);
		if (!names.count)
			continue;
		set = arena_alloc(arena, sizeof(*set) + names.count * sizeof(*names.list));
		if (!set) {
			found = -ENOMEM;
			continue;
		}
		*set = (struct abi_family){
			.mask = is_mask,
			.is_open = true,
			.values = memcpy(set + 1, names.list, names.count * sizeof(*names.list)),
			.count = names.count};
		node->number.set = node->number.set ? &ambiguous : set;
	}
	for (size_t i = 0; i < count; i++) /* what another list names otherwise is a number */
		if (fields[i].kind == LAYOUT_NUMBER && fields[i].number.set == &ambiguous)
			fields[i].number.set = NULL;
	free(names.list);
	return found < 0 ? found : 0;
}
