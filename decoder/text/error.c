/* SPDX-License-Identifier: MIT */
/*
 * Error texts for JSON: excerpts of what was got, nearest names.
 */
#include "text/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text/say.h"
#include "text/json_text.h"

int error_is_set(const struct error *e)
{
	return e->expected[0] != '\0';
}

/* Longest prefix of `text` that fits, cut before a UTF-8 continuation byte. */
static void put_excerpt(char *out, size_t size, const char *text)
{
	size_t n = strlen(text);

	if (n < size) {
		memcpy(out, text, n + 1);
		return;
	}
	n = size - 4;
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	memcpy(out, text, n);
	memcpy(out + n, "...", 4);
}

static int fill(struct error *e, const struct where *w, const char *got, const char *nearest,
		const char *expected, va_list args)
{
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
	vsnprintf(e->expected, sizeof(e->expected), expected, args);
	put_excerpt(e->got, sizeof(e->got), got);
	if (nearest)
		snprintf(e->nearest, sizeof(e->nearest), "%s", nearest);
	return -EINVAL;
}

int error_value(struct error *e, const struct where *w, const json_t *got, const char *expected,
		...)
{
	char *text = got ? json_text(got, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
	va_list args;

	va_start(args, expected);
	fill(e, w, text ? text : "nothing", NULL, expected, args);
	va_end(args);
	free(text);
	return -EINVAL;
}

int error_name(struct error *e, const struct where *w, const char *got, const char *nearest,
	       const char *expected, ...)
{
	char quoted[128];
	va_list args;

	snprintf(quoted, sizeof(quoted), "\"%.120s\"", got);
	va_start(args, expected);
	fill(e, w, quoted, nearest, expected, args);
	va_end(args);
	return -EINVAL;
}

int error_text(struct error *e, const struct where *w, const char *got, const char *expected, ...)
{
	va_list args;

	va_start(args, expected);
	fill(e, w, got, NULL, expected, args);
	va_end(args);
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
	size_t rows[3][NAME_MAX_LENGTH + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];
	size_t la = strlen(a), lb = strlen(b);

	if (la > NAME_MAX_LENGTH || lb > NAME_MAX_LENGTH)
		return NAME_MAX_LENGTH;
	for (size_t j = 0; j <= lb; j++)
		before[j] = last[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t *spare = before;

		now[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
			size_t best = last[j - 1] + cost;

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[lb];
}

struct nearest nearest_to(const char *name)
{
	return (struct nearest){.name = name, .distance = strlen(name) / 3 + 2};
}

void nearest_try(struct nearest *n, const char *candidate)
{
	size_t distance = edit_distance(n->name, candidate);

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
