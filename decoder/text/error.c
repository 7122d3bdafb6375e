/* SPDX-License-Identifier: MIT */
/*
 * Error texts for JSON: excerpts of what was got, nearest names, places and their lines.
 */
#include "text/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/json_text.h"
#include "text/say.h"

int error_is_set(const struct error *e)
{
	return e->expected[0] != '\0';
}

/* Longest prefix of `text` that fits, cut before a UTF-8 continuation byte. */
static void put_excerpt(char *out, size_t size, const char *text)
{
	size_t n = strlen(text);
	bool is_cut = n >= size;

	if (is_cut)
		for (n = size - 4; n && (text[n] & 0xc0) == 0x80; n--)
			;
	snprintf(out, size, "%.*s%s", (int)n, text, is_cut ? "..." : "");
}

enum { MAX_DEPTH = 64 };

/* The RFC 6901 pointer to it, cut to fit. */
static void where_pointer(const struct where *w, char *out, size_t size)
{
	const struct where *chain[MAX_DEPTH];
	size_t depth = 0, at = 0;

	for (; w && w->up && depth < MAX_DEPTH; w = w->up)
		chain[depth++] = w;
	while (depth-- && at + 24 < size) {
		const char *token = chain[depth]->key;

		out[at++] = '/';
		if (!token)
			at += (size_t)snprintf(out + at, size - at, "%zu", chain[depth]->index);
		for (; token && *token && at + 3 < size; token++) {
			bool is_escaped = *token == '~' || *token == '/';

			out[at++] = is_escaped ? '~' : *token;
			if (is_escaped)
				out[at++] = *token == '/' ? '1' : '0';
		}
	}
	out[at] = '\0';
}

int error_fill(struct error *e, const struct where *w, struct got got, const char *expected, ...)
{
	char quoted[128], *json = NULL;
	va_list args;
	size_t at;

	if (error_is_set(e))
		return -EINVAL;
	if (w && w->source) {
		snprintf(e->file, sizeof(e->file), "%s%s%s", w->source->root,
			 w->source->root[0] ? "/" : "", w->source->name);
		where_pointer(w, e->pointer, sizeof(e->pointer));
		e->line = where_line(w->source, e->pointer);
		at = strlen(e->pointer);
		if (w->note)
			snprintf(e->pointer + at, sizeof(e->pointer) - at, " (%s)", w->note);
	}
	va_start(args, expected);
	vsnprintf(e->expected, sizeof(e->expected), expected, args);
	va_end(args);
	snprintf(quoted, sizeof(quoted), "\"%.120s\"", got.name ? got.name : "");
	if (got.json)
		json = json_text(got.json, JSON_COMPACT | JSON_ENCODE_ANY);
	put_excerpt(e->got, sizeof(e->got),
		    got.text   ? got.text
		    : got.name ? quoted
		    : json     ? json
			       : "nothing");
	free(json);
	if (got.nearest)
		snprintf(e->nearest, sizeof(e->nearest), "%s", got.nearest);
	return -EINVAL;
}

int error_no_memory(struct error *e, const struct where *w, const char *what)
{
	e->no_memory = e->no_memory || !error_is_set(e);
	error_text(e, w, strerror(ENOMEM), "%s", what);
	return -ENOMEM;
}

void error_print(FILE *f, const char *program, const struct error *e)
{
	if (e->no_memory) {
		say(f, "%s: no %s\n", program, e->expected);
		return;
	}
	say(f, "%s: %s", program, e->file[0] ? e->file : "input");
	if (e->line)
		say(f, ":%d", e->line);
	if (e->pointer[0])
		say(f, ": %s", e->pointer);
	say(f, "\n  expected: %s\n  got:      %s\n", e->expected, e->got);
	if (e->nearest[0])
		say(f, "  nearest:  \"%s\"\n", e->nearest);
}

enum { NAME_MAX_LENGTH = 64 };

/* Edits (insert, delete, replace, swap neighbours) that make `b` of `a`. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t edits[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1]; /* of what is in front */
	size_t la = strlen(a), lb = strlen(b);

	if (la > NAME_MAX_LENGTH || lb > NAME_MAX_LENGTH)
		return NAME_MAX_LENGTH;
	for (size_t i = 0; i <= la; i++)
		for (size_t j = 0; j <= lb; j++) {
			size_t best = i + j;

			if (i && j)
				best = edits[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (i && edits[i - 1][j] + 1 < best)
				best = edits[i - 1][j] + 1;
			if (j && edits[i][j - 1] + 1 < best)
				best = edits[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    edits[i - 2][j - 2] + 1 < best)
				best = edits[i - 2][j - 2] + 1;
			edits[i][j] = best;
		}
	return edits[la][lb];
}

struct nearest nearest_to(const char *name)
{
	return (struct nearest){.name = name, .distance = strlen(name) / 3 + 2};
}

void nearest_try(struct nearest *n, const char *candidate)
{
	size_t length = strlen(n->name), other = strlen(candidate), distance;

	/* It is at least what one is longer. */
	if ((length > other ? length - other : other - length) >= n->distance)
		return;
	distance = edit_distance(n->name, candidate);
	if (distance < n->distance) {
		n->distance = distance;
		n->best = candidate;
	}
}

int name_index(const char *name, const char *const list[], struct nearest *near)
{
	for (int i = 0; list[i]; i++)
		if (!strcmp(list[i], name))
			return i;
	for (int i = 0; list[i] && near; i++)
		nearest_try(near, list[i]);
	return -1;
}

struct where where_root(const struct source *source)
{
	return (struct where){.source = source};
}

struct where where_key(const struct where *up, const char *key)
{
	return (struct where){.up = up, .source = up->source, .key = key, .note = up->note};
}

struct where where_index(const struct where *up, size_t index)
{
	return (struct where){.up = up, .source = up->source, .index = index, .note = up->note};
}

/* Behind the spaces, or the string, at a place in JSON text that is known to be valid. */
static const char *behind_space(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

static const char *behind_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		at += *at == '\\' && at[1];
	return at + (*at == '"');
}

/* Behind a value of any kind. */
static const char *behind_value(const char *at)
{
	size_t depth = 0;

	do {
		depth += *at == '{' || *at == '[';
		depth -= *at == '}' || *at == ']';
		if (*at == '"')
			at = behind_string(at);
		else if (*at && strchr("{[]}", *at))
			at++;
		else
			at += strcspn(at, " \t\r\n,:]}");
		at += depth ? strspn(at, " \t\r\n,:") : 0;
	} while (depth && *at);
	return at;
}

/* True if the raw JSON string at `s` is the pointer token (escapes in keys are not undone). */
static bool key_is(const char *s, const char *token, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char c = token[i];

		if (c == '~' && i + 1 < length)
			c = token[++i] == '1' ? '/' : '~';
		if (*++s != c)
			return false;
	}
	return s[1] == '"';
}

/* The value of that key or index in the object or array that begins at `at`; NULL: none has it. */
static const char *value_in(const char *at, const char *token, size_t length)
{
	bool is_object = *at == '{', found;
	unsigned long index = strtoul(token, NULL, 10);

	do {
		at = behind_space(at + 1);
		if (is_object ? *at != '"' : *at == ']')
			return NULL;
		found = is_object ? key_is(at, token, length) : !index--;
		if (is_object) {
			at = behind_space(behind_string(at));
			at = behind_space(at + (*at == ':'));
		}
		if (found)
			return at;
		at = behind_space(behind_value(at));
	} while (*at == ',');
	return NULL;
}

int where_line(const struct source *source, const char *pointer)
{
	const char *value = behind_space(source->text);
	int line = 1;

	while (*pointer == '/') {
		size_t length = strcspn(++pointer, "/");
		const char *inner =
			*value == '{' || *value == '[' ? value_in(value, pointer, length) : NULL;

		if (!inner)
			break; /* a key that is missing: the line of what should have it */
		value = inner;
		pointer += length;
	}
	for (const char *at = source->text; at < value; at++)
		line += *at == '\n';
	return line;
}
