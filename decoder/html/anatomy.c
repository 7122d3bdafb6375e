/* SPDX-License-Identifier: MIT */
#include "html/anatomy.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/word.h"
#include "html/html.h"
#include "text/json_text.h"
#include "text/source.h"

struct sources record_builtin(void);

enum { BYTES_A_ROW = 16, RECORD_HEADER = 8, RECORD_MAX = 65536 };

static const char *record_file(const char *name)
{
	struct sources sources = record_builtin();
	const struct source *source = sources_find(&sources, name);

	return source ? source->text : "";
}

/* A part of the template, up to where the lines stand; returns what is behind them. */
static const char *put_template(const struct anatomy *a, const char *template)
{
	const struct html_slot slots[] = {
		{"title", html_slot_text, a->title},
		{"style", html_slot_raw, record_file("decoder/html/record.css")},
		{"script", html_slot_raw, record_file("decoder/html/record.js")},
		{"lines", NULL, NULL},
		{NULL, NULL, NULL}};

	return html_fill(a->f, template, slots);
}

void anatomy_begin(struct anatomy *a, FILE *f, int fd, const char *title, uint64_t limit)
{
	*a = (struct anatomy){.f = f, .fd = fd, .title = title, .limit = limit};
	a->rest = put_template(a, record_file("decoder/html/record.html"));
}

void anatomy_end(struct anatomy *a)
{
	if (a->is_cut)
		fprintf(a->f,
			"<p class=note>There is more: the page ends after %llu lines%s.</p>\n",
			(unsigned long long)a->lines,
			a->lines < a->limit ? ", for it has no room for others"
					    : "; --limit asks for more");
	if (a->rest)
		put_template(a, a->rest);
	out_free(&a->line);
}

/* 0 if it is none. Numbers were read as real ones: what is beyond 2^53 is not the same any more. */
static json_int_t integer_of(const json_t *number)
{
	double value = json_number_value(number);

	return value >= -0x1p53 && value <= 0x1p53 ? (json_int_t)value : 0;
}

/* The first `shown` bytes of a record. Why there are none, or NULL. */
static const char *find_bytes(const struct anatomy *a, const json_t *line, json_int_t offset,
			      json_int_t size, unsigned char *bytes, size_t shown)
{
	if (json_object_get(line, "within"))
		return "It stood compressed in the file.";
	if (a->is_ring)
		return "The records of a ring have no place of their own in the file.";
	if (size < RECORD_HEADER || size > RECORD_MAX || offset < 0)
		return "It has no bytes of its own.";
	if (pread(a->fd, bytes, shown, offset) != (ssize_t)shown)
		return "The bytes cannot be read again: only a file has them.";
	/* they are the record's if the header's size, in either byte order, is the line's */
	return load_word(bytes + 6, 2, LITTLE) == (uint64_t)size ||
			       load_word(bytes + 6, 2, BIG) == (uint64_t)size
		       ? NULL
		       : "The bytes cannot be found again in the file.";
}

/* In hexadecimal and as text. Whose each byte is the script finds. */
static void put_dump(FILE *f, const unsigned char *bytes, size_t shown)
{
	fputs("<pre class=hex>", f);
	for (size_t at = 0; at < shown; at += BYTES_A_ROW) {
		size_t end = at + BYTES_A_ROW < shown ? at + BYTES_A_ROW : shown;

		fprintf(f, "<i>%04zx</i>  ", at);
		for (size_t i = at; i < end; i++)
			fprintf(f, "%02x ", bytes[i]);
		fprintf(f, "%*s", (int)(3 * (at + BYTES_A_ROW - end) + 1), "");
		for (size_t i = at; i < end; i++)
			html_piece(f,
				   bytes[i] >= 0x20 && bytes[i] < 0x7f ? (const char *)&bytes[i]
								       : ".",
				   1);
		fputc('\n', f);
	}
	fputs("</pre>", f);
}

static void put_anatomy(const struct anatomy *a, const json_t *line)
{
	json_int_t offset = integer_of(json_object_get(line, "offset"));
	json_int_t size = integer_of(json_object_get(line, "size"));
	unsigned char bytes[ANATOMY_RECORD_BYTES];
	size_t shown = size < ANATOMY_RECORD_BYTES ? (size_t)size : ANATOMY_RECORD_BYTES;
	const char *why = find_bytes(a, line, offset, size, bytes, shown);

	fputs("<section class=record><h2>", a->f);
	html_text(a->f, member_text(line, "type"));
	fprintf(a->f, " <small>at %lld, %lld bytes</small></h2><div class=pair>", (long long)offset,
		(long long)size);
	if (why)
		fprintf(a->f, "<p class=none>%s</p>", why);
	else
		put_dump(a->f, bytes, shown);
	if (!why && size > ANATOMY_RECORD_BYTES)
		fprintf(a->f, "<p class=none>The first %zu bytes of %lld.</p>", shown,
			(long long)size);
}

/* One line, without its newline. */
static void take_whole_line(struct anatomy *a, const char *text)
{
	/* It is written as it stands: a number of 64 bits stays exact. */
	json_t *line = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL);
	const char *type = member_text(line, "type"), *grade = member_text(line, "grade");
	const char *format = json_string_value(json_object_get(line, "format"));
	const char *end = "</section>\n";

	if (format)
		a->is_ring = !strcmp(format, "ring");
	a->has_errors = a->has_errors || !strcmp(grade, "error");
	if (json_object_get(line, "size") && json_object_get(line, "offset")) {
		put_anatomy(a, line);
		end = "</div></section>\n";
	} else if (!strcmp(type, "header")) { /* it is long, and stands before all else */
		fputs("<details><summary>header</summary>", a->f);
		end = "</details>\n";
	} else { /* the summary, and diagnostics with their grade */
		fputs("<section class=\"other ", a->f);
		html_text(a->f, grade);
		fputs("\"><h2>", a->f);
		html_text(a->f, type);
		fputs("</h2>", a->f);
	}
	fputs("<pre class=json>", a->f);
	html_text(a->f, text);
	fprintf(a->f, "</pre>%s", end);
	json_decref(line);
}

int anatomy_text(void *context, const char *text, size_t size)
{
	struct anatomy *a = context;
	int got;

	while ((got = out_line(&a->line, &text, &size)) > 0) {
		size_t length = (size_t)(a->line.at - a->line.base);

		a->is_cut = a->lines > a->limit || a->bytes + length > ANATOMY_BYTES;
		if (a->is_cut) {
			a->lines -= a->lines > 0; /* the header's is not counted */
			return -ECANCELED;
		}
		a->lines++;
		a->bytes += length;
		take_whole_line(a, a->line.base);
		a->line.at = a->line.base;
	}
	return got;
}
