/* SPDX-License-Identifier: MIT */
/*
 * A program put together: the files of pieces/ that its text names, each behind those that it names
 * itself. A piece is called as its file is.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "translate/translate.h"

struct sources pieces_builtin(void);

enum { PIECES_MAX = 256, HEADERS_MAX = 64 };

struct writing {
	const char *own; /* what stands in front of the pieces */
	struct sources pieces;
	const struct source *order[PIECES_MAX]; /* as they are written */
	size_t count;
	enum { UNSEEN, ENTERED, TAKEN } state[PIECES_MAX];
	char *headers[HEADERS_MAX];
	size_t header_count;
};

static size_t word_length(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

static const char suffix[] = ".inc";

/* The piece of that name, or of all names that begin as its file does: CLOCK_.inc. -1: none. */
static int piece_named(const struct sources *pieces, const char *name, size_t length)
{
	for (size_t i = 0; i < pieces->count && i < PIECES_MAX; i++) {
		const char *file = strrchr(pieces->list[i].name, '/') + 1;
		size_t n = strlen(file) - strlen(suffix);

		if ((n == length || (n < length && file[n - 1] == '_')) && !strncmp(file, name, n))
			return (int)i;
	}
	return -1;
}

bool c_is_piece(const char *name)
{
	struct sources pieces = pieces_builtin();

	return piece_named(&pieces, name, strlen(name)) >= 0;
}

/* Whether the program has a function of that name itself. */
static bool is_defined(const struct writing *w, const struct source *piece)
{
	const char *file = strrchr(piece->name, '/') + 1;
	char head[128];

	snprintf(head, sizeof(head), "static void %.*s(", (int)(strlen(file) - strlen(suffix)),
		 file);
	return strstr(w->own, head) != NULL;
}

static void take_pieces_of(struct writing *w, const char *text);

static void take_piece(struct writing *w, size_t i)
{
	if (w->state[i] != UNSEEN || is_defined(w, &w->pieces.list[i]))
		return;
	w->state[i] = ENTERED;
	take_pieces_of(w, w->pieces.list[i].text);
	w->state[i] = TAKEN;
	w->order[w->count++] = &w->pieces.list[i];
}

/* Each piece is entered once, so this goes no deeper than there are pieces. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void take_pieces_of(struct writing *w, const char *text)
{
	while (*text) {
		size_t n = word_length(text);
		int i;

		if (!strncmp(text, "/*", 2)) { /* nor what is said of it */
			const char *end = strstr(text, "*/");

			text = end ? end + 2 : text + strlen(text);
			continue;
		}
		if (*text == '"') { /* what is quoted calls nothing */
			for (text++; *text && *text != '"'; text++)
				text += *text == '\\' && text[1];
			text += *text == '"';
			continue;
		}
		i = n ? piece_named(&w->pieces, text, n) : -1;
		if (i >= 0)
			take_piece(w, (size_t)i);
		text += n ? n : 1;
	}
}

static int add_header(struct writing *w, const char *line, size_t length)
{
	for (size_t i = 0; i < w->header_count; i++)
		if (strlen(w->headers[i]) == length && !strncmp(w->headers[i], line, length))
			return 0;
	if (w->header_count == HEADERS_MAX)
		return -ENOSPC;
	w->headers[w->header_count] = strndup(line, length);
	return w->headers[w->header_count++] ? 0 : -ENOMEM;
}

/* Behind the licence, the lines of #include; what follows them is the piece. */
static const char *skip_headers(struct writing *w, const char *text, int *err)
{
	for (;;) {
		const char *end = strchr(text, '\n');

		if (!end ||
		    !(text == end || !strncmp(text, "#include", 8) || !strncmp(text, "/* SPDX", 7)))
			return text;
		if (text[0] == '#' && !*err)
			*err = add_header(w, text, (size_t)(end - text));
		text = end + 1;
	}
}

static int compare_headers(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int c_write(FILE *f, const char *comment, const char *own, const char *text)
{
	struct writing *w = calloc(1, sizeof(*w));
	int err = 0;

	if (!w)
		return -ENOMEM;
	w->pieces = pieces_builtin();
	w->own = own;
	take_pieces_of(w, own);
	take_pieces_of(w, text);
	for (size_t i = 0; i < w->count; i++)
		skip_headers(w, w->order[i]->text, &err);
	if (!err)
		err = add_header(w, "#include <stdint.h>", 19);
	qsort(w->headers, w->header_count, sizeof(w->headers[0]), compare_headers);
	fprintf(f, "%s#define _GNU_SOURCE\n", comment);
	for (size_t i = 0; i < w->header_count; i++)
		fprintf(f, "%s\n", w->headers[i]);
	fprintf(f, "\n%s", own);
	for (size_t i = 0; i < w->count; i++) {
		const char *piece = skip_headers(w, w->order[i]->text, &err);

		if (piece[0])
			fprintf(f, "\n%s", piece);
	}
	fprintf(f, "\n/* The case. */\n\n%s", text);
	for (size_t i = 0; i < w->header_count; i++)
		free(w->headers[i]);
	free(w);
	return err;
}
