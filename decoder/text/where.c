/* SPDX-License-Identifier: MIT */
/*
 * Places in JSON texts: as pointers, and the lines on which they are.
 */
#include "text/where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Appends a token, with ~ and / escaped as RFC 6901 has it. */
static size_t put_token(char *out, size_t at, size_t size, const char *token)
{
	for (; *token; token++) {
		const char *piece = *token == '~' ? "~0" : *token == '/' ? "~1" : NULL;

		if (at + 3 >= size)
			break;
		if (piece) {
			memcpy(out + at, piece, 2);
			at += 2;
		} else {
			out[at++] = *token;
		}
	}
	return at;
}

enum { MAX_DEPTH = 64 };

void where_pointer(const struct where *w, char *out, size_t size)
{
	const struct where *chain[MAX_DEPTH];
	size_t depth = 0, at = 0;

	for (; w && w->up && depth < MAX_DEPTH; w = w->up)
		chain[depth++] = w;
	while (depth-- && at + 24 < size) {
		out[at++] = '/';
		if (chain[depth]->key)
			at = put_token(out, at, size, chain[depth]->key);
		else
			at += (size_t)snprintf(out + at, size - at, "%zu", chain[depth]->index);
	}
	out[at] = '\0';
}

/* A scanner over JSON text that is known to be valid; `line` counts as it goes. */
struct scan {
	const char *at, *end;
	int line;
};

static void next_token(struct scan *s)
{
	for (; s->at < s->end && strchr(" \t\r\n", *s->at); s->at++)
		s->line += *s->at == '\n';
}

static void skip_string(struct scan *s)
{
	for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
		if (*s->at == '\\')
			s->at++;
	s->at++;
}

/* Passes over one value of any kind. */
static void skip_value(struct scan *s)
{
	size_t depth = 0;

	do {
		next_token(s);
		if (s->at >= s->end)
			return;
		if (*s->at == '"') {
			skip_string(s);
			continue;
		}
		if (*s->at == '{' || *s->at == '[')
			depth++;
		else if (*s->at == '}' || *s->at == ']')
			depth--;
		else if (!depth)
			for (; s->at + 1 < s->end && !strchr(" \t\r\n,]}", s->at[1]); s->at++)
				;
		s->at++;
	} while (depth);
}

/* True if the raw JSON string at `s` is the pointer token (escapes in keys are not undone). */
static int key_is(const struct scan *s, const char *token, size_t length)
{
	const char *p = s->at + 1;

	for (size_t i = 0; i < length; i++, p++) {
		char c = token[i];

		if (c == '~' && i + 1 < length)
			c = token[++i] == '1' ? '/' : '~';
		if (p >= s->end || *p != c)
			return 0;
	}
	return p < s->end && *p == '"';
}

static int enter_object(struct scan *s, const char *token, size_t length)
{
	for (s->at++;;) {
		int found;

		next_token(s);
		if (s->at >= s->end || *s->at != '"')
			return 0;
		found = key_is(s, token, length);
		skip_string(s);
		next_token(s);
		s->at++; /* the colon */
		next_token(s);
		if (found)
			return 1;
		skip_value(s);
		next_token(s);
		if (s->at >= s->end || *s->at++ != ',')
			return 0;
	}
}

static int enter_array(struct scan *s, const char *token)
{
	unsigned long index = strtoul(token, NULL, 10);

	for (s->at++;; index--) {
		next_token(s);
		if (s->at >= s->end || *s->at == ']')
			return 0;
		if (!index)
			return 1;
		skip_value(s);
		next_token(s);
		if (s->at >= s->end || *s->at++ != ',')
			return 0;
	}
}

int where_line(const struct source *source, const char *pointer)
{
	struct scan s = {.at = source->text, .end = source->text + source->length, .line = 1};

	for (next_token(&s); *pointer == '/';) {
		size_t length = strcspn(++pointer, "/");
		struct scan inner = s;
		int found = 0;

		if (s.at < s.end && *s.at == '{')
			found = enter_object(&inner, pointer, length);
		else if (s.at < s.end && *s.at == '[')
			found = enter_array(&inner, pointer);
		if (!found)
			break; /* a key that is missing: the line of what should have it */
		s = inner;
		pointer += length;
	}
	return s.line;
}
