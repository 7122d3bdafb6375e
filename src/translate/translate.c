/* SPDX-License-Identifier: MIT */
/*
 * Lines, and what the names of a case are called in C.
 */
#include "translate/translate.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text/error.h"

void c_line(struct translation *t, const char *format, ...)
{
	FILE *body = t->parts[C_BODY].file;
	va_list args;

	for (int i = 0; i < t->indent; i++)
		fputc('\t', body);
	va_start(args, format);
	vfprintf(body, format, args);
	va_end(args);
	fputc('\n', body);
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

static const char *keep_text(struct translation *t, const char *text)
{
	char *copy = arena_join(t->arena, text, "");

	if (!copy)
		c_missing(t, "a text, for want of memory");
	return copy ? copy : "";
}

const char *c_text(struct translation *t, const char *format, ...)
{
	char text[2 * C_TEXT_MAX];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(text))
		c_missing(t, "a text of %d bytes", n);
	return keep_text(t, text);
}

const char *c_quote(struct translation *t, const char *text)
{
	char out[C_TEXT_MAX];
	size_t n = 0;

	out[n++] = '"';
	for (; *text && n < sizeof(out) - 6; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			n += (size_t)sprintf(out + n, "\\%c", c);
		else if (c < ' ' || c >= 0x7f || (c == '?' && out[n - 1] == '?'))
			n += (size_t)sprintf(out + n, "\\%03o", c); /* no trigraph, no writing
								     * that turns round */
		else
			out[n++] = (char)c;
	}
	if (*text)
		c_missing(t, "a text that is so long");
	out[n++] = '"';
	out[n] = '\0';
	return keep_text(t, out);
}

/* Names that a program of the listing's own cannot have for a variable. */
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

/* On one line with others of its type, as far as there is room. */
static void declare_variable(struct translation *t, const char *c, const char *type)
{
	bool is_pointer = type[strlen(type) - 1] == '*';
	const char *others = json_string_value(json_object_get(t->variables, type));
	const char *line = others ? strrchr(others, '\n') : NULL;
	const char *joint = strlen(line ? line : others ? others : "") > 75 ? ",\n\t" : ", ";

	json_object_set_new(t->declared, c, json_string(type));
	json_object_set_new(
		t->variables, type,
		json_string(others ? c_text(t, "%s%s%s%s", others, joint, is_pointer ? "*" : "", c)
				   : c_text(t, is_pointer ? "%s" : " %s", c)));
}

const char *c_declare(struct translation *t, const char *name, const char *type)
{
	char c[VARIABLE_NAME + 16];

	for (unsigned i = 1; i < C_NAMES; i++) {
		json_t *was;

		if (i > 1)
			snprintf(c, sizeof(c), "%s_%u", name, i);
		else
			snprintf(c, sizeof(c), "%s%s", name,
				 name_index(name, reserved, NULL) >= 0 || c_is_piece(name) ? "_"
											   : "");
		was = json_object_get(t->declared, c);
		if (was && strcmp(json_string_value(was), type) != 0)
			continue;
		if (!was)
			declare_variable(t, c, type);
		return keep_text(t, c);
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
	*to = (struct c_name){.shape = *shape};
	snprintf(to->name, sizeof(to->name), "%s", name);
	snprintf(to->c, sizeof(to->c), "%s", c);
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

	if (c[sign] && !c[sign + strspn(c + sign, "0123456789")])
		return c;
	return strpbrk(c, " ?+*<>|&/") || strchr(c + 1, '-') ? c_text(t, "(%s)(%s)", type, c)
							     : c_text(t, "(%s)%s", type, c);
}
