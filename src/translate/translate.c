/* SPDX-License-Identifier: MIT */
/*
 * Lines, and what the names of a case are called in C.
 */
#include "translate/translate.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "text/error.h"
#include "text/json_text.h"

static void print_text(struct out *to, const char *format, va_list args)
{
	va_list again;
	char *at;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	at = or_exit(n < 0 ? NULL : out_room(to, (size_t)n + 1));
	to->at = at + vsnprintf(at, (size_t)n + 1, format, args);
}

void c_put(struct out *to, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_text(to, format, args);
	va_end(args);
}

const char *c_taken(struct translation *t, struct out *from)
{
	const char *text = from->base ? c_text(t, "%s", from->base) : "";

	out_free(from);
	return text;
}

void c_line(struct translation *t, const char *format, ...)
{
	struct out *body = &t->parts[C_BODY];
	va_list args;

	for (int i = 0; i < t->indent; i++)
		c_put(body, "\t");
	va_start(args, format);
	print_text(body, format, args);
	va_end(args);
	c_put(body, "\n");
	t->lines++;
}

void c_missing(struct translation *t, const char *format, ...)
{
	va_list args;

	if (t->missing[0])
		return;
	va_start(args, format);
	vsnprintf(t->missing, sizeof(t->missing), format, args);
	va_end(args);
}

const char *c_text(struct translation *t, const char *format, ...)
{
	struct out out = {0};
	const char *text;
	va_list args;

	va_start(args, format);
	print_text(&out, format, args);
	va_end(args);
	text = or_exit(arena_join(t->arena, out.base, ""));
	out_free(&out);
	return text;
}

const char *c_quote(struct translation *t, const char *text)
{
	struct out out = {0};
	unsigned char before = '\0';

	c_put(&out, "\"");
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		/* No trigraph, and no writing that turns round. */
		bool is_octal = c < ' ' || c >= 0x7f || (c == '?' && before == '?');

		c_put(&out, is_octal ? "\\%03o" : c == '"' || c == '\\' ? "\\%c" : "%c", c);
		before = is_octal ? '\0' : c;
	}
	c_put(&out, "\"");
	return c_taken(t, &out);
}

/* Names that a program cannot have for a variable. */
static const char *const reserved[] = {
	"auto",   "break",  "case",   "char",   "const",    "continue", "default",  "do",
	"double", "else",   "enum",   "extern", "float",    "for",      "goto",     "if",
	"inline", "int",    "long",   "return", "register", "restrict", "short",    "signed",
	"sizeof", "static", "struct", "switch", "typedef",  "union",    "unsigned", "void",
	"while",  "main",   "errno",  "index",  "open",     "read",     "write",    "close",
	"signal", "poll",   "stat",   "clock",  "time",     "exit",     "abort",    "kill",
	"wait",   "fork",   "pause",  "dup",    "link",     "bind",     "send",     "sleep",
	"linux",  "unix",   "expect", "must",   "records",  NULL};

bool c_is_int(const struct translation *t, const char *c)
{
	const char *type = json_string_value(json_object_get(t->declared, c));

	return type && !strcmp(type, "int");
}

const char *c_declare(struct translation *t, const char *name, const char *type)
{
	const char *others, *line, *all, *star = type[strlen(type) - 1] == '*' ? "*" : "";
	char c[VARIABLE_NAME + 16];

	for (unsigned i = 1; i < C_NAMES; i++) {
		json_t *was;

		if (i > 1)
			snprintf(c, sizeof(c), "%s_%u", name, i);
		else
			snprintf(c, sizeof(c), "%s%s", name,
				 name_index(name, reserved, NULL) >= 0 || c_is_snippet(name) ? "_"
											     : "");
		was = json_object_get(t->declared, c);
		if (was && strcmp(json_string_value(was), type) != 0)
			continue;
		if (was)
			return c_text(t, "%s", c);
		/* On one line with others of its type, as far as there is room. */
		others = json_string_value(json_object_get(t->variables, type));
		line = others && strrchr(others, '\n') ? strrchr(others, '\n') : others;
		json_object_set_new(t->declared, c, json_string(type));
		all = others ? c_text(t, "%s%s%s%s", others, strlen(line) > 75 ? ",\n\t" : ", ",
				      star, c)
			     : c_text(t, star[0] ? "%s" : " %s", c);
		json_object_set_new(t->variables, type, json_string(all));
		return c_text(t, "%s", c);
	}
	c_missing(t, "so many variables of one name");
	return "";
}

struct c_name *c_named(struct translation *t, const char *name)
{
	for (size_t i = 0; i < t->name_count; i++)
		if (!strcmp(t->names[i].name, name))
			return &t->names[i];
	return NULL;
}

struct c_name *c_bind_as(struct translation *t, const char *name, const char *c,
			 const struct c_shape *shape)
{
	struct c_name *to = c_named(t, name);

	if (!to && t->name_count == C_NAMES) {
		c_missing(t, "more than %d names", C_NAMES);
		return NULL;
	}
	if (!to)
		to = &t->names[t->name_count++];
	*to = (struct c_name){.name = c_text(t, "%s", name), .c = c, .shape = *shape};
	return to;
}

struct c_name *c_bind(struct translation *t, const char *name, const char *type,
		      const struct c_shape *shape)
{
	return c_bind_as(t, name, c_declare(t, name, type), shape);
}

const char *c_capitals(struct translation *t, const char *prefix, const char *name)
{
	char upper[128];
	size_t n = 0;

	for (; name[n] && n + 1 < sizeof(upper); n++)
		upper[n] = (char)(name[n] == '-' ? '_' : toupper((unsigned char)name[n]));
	upper[n] = '\0';
	return c_text(t, "%s%s", prefix, upper);
}

const char *c_cast(struct translation *t, const char *type, const char *c)
{
	size_t sign = c[0] == '-' && !strcmp(type, "int");

	if ((c[sign] && !c[sign + strspn(c + sign, "0123456789")]) ||
	    (!strcmp(type, "int") && c_is_int(t, c)))
		return c;
	return strpbrk(c, " ?+*<>|&/") || strchr(c + 1, '-') ? c_text(t, "(%s)(%s)", type, c)
							     : c_text(t, "(%s)%s", type, c);
}
