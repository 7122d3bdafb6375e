/* SPDX-License-Identifier: MIT */
/*
 * A page, line by line, as they come.
 */
#include "html/anatomy.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "html/html.h"
#include "html/members.h"
#include "text/source.h"

struct sources record_builtin(void);

enum { BYTES_A_ROW = 16, RECORD_HEADER = 8, RECORD_MAX = 65536, MEMBERS_MAX = 4096 };

/* A record's bytes, and whose each is. */
struct record_bytes {
	size_t size, shown;
	unsigned char byte[ANATOMY_RECORD_BYTES];
	int owner[ANATOMY_RECORD_BYTES]; /* a member's number, or -1 */
};

static const char *record_file(const char *name)
{
	struct sources sources = record_builtin();
	const struct source *source = sources_find(&sources, name);

	return source ? source->text : "";
}

/* The template's part before, or behind, where the lines stand. */
static void put_template(const struct anatomy *a, bool is_head)
{
	static const char mark[] = "{{lines}}";
	const struct html_slot slots[] = {
		{"title", html_slot_text, a->title},
		{"style", html_slot_raw, record_file("decoder/html/record.css")},
		{"script", html_slot_raw, record_file("decoder/html/record.js")},
		{NULL, NULL, NULL}};
	const char *template = record_file("decoder/html/record.html");
	const char *at = strstr(template, mark);
	char *head = at ? strndup(template, (size_t)(at - template)) : NULL;

	if (is_head && head)
		html_fill(a->f, head, slots);
	else if (!is_head && at)
		html_fill(a->f, at + strlen(mark), slots);
	free(head);
}

int anatomy_begin(struct anatomy *a, FILE *f, int fd, const char *title, uint64_t limit)
{
	*a = (struct anatomy){.f = f, .fd = fd, .title = title, .limit = limit};
	if (out_init(&a->line, NULL, NULL))
		return -ENOMEM;
	put_template(a, true);
	return 0;
}

void anatomy_end(struct anatomy *a)
{
	if (a->is_cut)
		fprintf(a->f,
			"<p class=note>There is more: the page ends after %llu lines%s.</p>\n",
			(unsigned long long)a->lines,
			a->lines < a->limit ? ", for it has no room for others"
					    : "; --limit asks for more");
	put_template(a, false);
	out_free(&a->line);
}

/* 0 if it is none. Numbers were read as real ones: what is beyond 2^53 is not the same any more. */
static json_int_t integer_of(const json_t *number)
{
	double value = json_number_value(number);

	return value >= -0x1p53 && value <= 0x1p53 ? (json_int_t)value : 0;
}

static void own(struct record_bytes *r, int number, json_int_t offset, json_int_t length)
{
	if (offset < 0 || length < 0 || offset > RECORD_MAX || length > RECORD_MAX)
		return;
	for (json_int_t i = offset; i < offset + length && i < (json_int_t)r->shown; i++)
		if (r->owner[i] < 0)
			r->owner[i] = number;
}

static void settle_owners(struct record_bytes *r, const json_t *at)
{
	const char *name;
	json_t *place;
	int number = HEADER_MEMBERS;

	for (size_t i = 0; i < r->shown; i++)
		r->owner[i] = -1;
	own(r, 0, 0, 4);
	own(r, 1, 4, 2);
	own(r, 2, 6, 2);
	json_object_foreach((json_t *)at, name, place) {
		own(r, number, integer_of(json_array_get(place, 0)),
		    integer_of(json_array_get(place, 1)));
		if (++number == MEMBERS_MAX)
			break;
	}
}

/* The header's size, in one byte order or the other, is the line's: the bytes are the record's. */
static bool is_record(const struct record_bytes *r)
{
	return ((size_t)r->byte[6] | (size_t)r->byte[7] << 8) == r->size ||
	       ((size_t)r->byte[7] | (size_t)r->byte[6] << 8) == r->size;
}

/* Why there are no bytes, or NULL. */
static const char *find_bytes(const struct anatomy *a, const json_t *line, struct record_bytes *r)
{
	json_int_t offset = integer_of(json_object_get(line, "offset"));
	json_int_t size = integer_of(json_object_get(line, "size"));

	if (json_object_get(line, "within"))
		return "It stood compressed in the file.";
	if (a->is_ring)
		return "The records of a ring have no place of their own in the file.";
	if (size < RECORD_HEADER || size > RECORD_MAX || offset < 0)
		return "It has no bytes of its own.";
	r->size = (size_t)size;
	r->shown = r->size < ANATOMY_RECORD_BYTES ? r->size : ANATOMY_RECORD_BYTES;
	if (pread(a->fd, r->byte, r->shown, offset) != (ssize_t)r->shown)
		return "The bytes cannot be read again: only a file has them.";
	return is_record(r) ? NULL : "The bytes cannot be found again in the file.";
}

static char shown_as_text(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f ? (char)byte : '.';
}

/* Bytes of one member that stand together in a row, in hexadecimal or as text. */
static void put_bytes_of(FILE *f, const struct record_bytes *r, size_t at, size_t end, bool as_text)
{
	if (r->owner[at] >= 0) {
		members_open(f, "span", (size_t)r->owner[at]);
		fputc('>', f);
	}
	for (size_t i = at; i < end; i++) {
		char c = shown_as_text(r->byte[i]);

		if (as_text)
			html_piece(f, &c, 1);
		else
			fprintf(f, "%s%02x", i > at ? " " : "", r->byte[i]);
	}
	if (r->owner[at] >= 0)
		fputs("</span>", f);
}

static void put_row_part(FILE *f, const struct record_bytes *r, size_t at, size_t end, bool as_text)
{
	while (at < end) {
		size_t next = at + 1;

		while (next < end && r->owner[next] == r->owner[at])
			next++;
		put_bytes_of(f, r, at, next, as_text);
		if (!as_text && next < end)
			fputc(' ', f);
		at = next;
	}
}

static void put_dump(FILE *f, const struct record_bytes *r)
{
	fputs("<pre class=hex>", f);
	for (size_t at = 0; at < r->shown; at += BYTES_A_ROW) {
		size_t end = at + BYTES_A_ROW < r->shown ? at + BYTES_A_ROW : r->shown;

		fprintf(f, "<i>%04zx</i>  ", at);
		put_row_part(f, r, at, end, false);
		fprintf(f, "%*s", (int)(3 * (at + BYTES_A_ROW - end) + 2), "");
		put_row_part(f, r, at, end, true);
		fputc('\n', f);
	}
	fputs("</pre>", f);
	if (r->shown < r->size)
		fprintf(f, "<p class=none>The first %zu bytes of %zu.</p>", r->shown, r->size);
}

static void put_anatomy(const struct anatomy *a, const char *text, const json_t *line)
{
	const json_t *at = json_object_get(line, "at");
	struct record_bytes *r = malloc(sizeof(*r));
	const char *type = json_string_value(json_object_get(line, "type"));
	const char *why = r ? find_bytes(a, line, r) : "There is no memory for its bytes.";

	fputs("<section class=record><h2>", a->f);
	html_text(a->f, type ? type : "");
	fprintf(a->f, " <small>at %lld, %lld bytes</small></h2><div class=pair>",
		(long long)integer_of(json_object_get(line, "offset")),
		(long long)integer_of(json_object_get(line, "size")));
	if (why) {
		fprintf(a->f, "<p class=none>%s</p>", why);
	} else {
		settle_owners(r, at);
		put_dump(a->f, r);
	}
	fputs("<pre class=json>", a->f);
	members_write(a->f, text, why ? NULL : at);
	fputs("</pre></div></section>\n", a->f);
	free(r);
}

/* The summary, and diagnostics with their grade. */
static void put_other(const struct anatomy *a, const char *text, const char *type,
		      const char *grade)
{
	fputs("<section class=\"other ", a->f);
	html_text(a->f, grade);
	fputs("\"><h2>", a->f);
	html_text(a->f, type);
	fputs("</h2><pre class=json>", a->f);
	members_write(a->f, text, NULL);
	fputs("</pre></section>\n", a->f);
}

/* The header is long, and stands before all else. */
static void put_head(const struct anatomy *a, const char *text)
{
	fputs("<details><summary>header</summary><pre class=json>", a->f);
	members_write(a->f, text, NULL);
	fputs("</pre></details>\n", a->f);
}

/* One line, without its newline. */
static void take_whole_line(struct anatomy *a, const char *text)
{
	/* What is beyond 64 bits is not looked at here, and is written as it stands. */
	json_t *line = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL);
	const char *type = json_string_value(json_object_get(line, "type"));
	const char *grade = json_string_value(json_object_get(line, "grade"));
	const char *format = json_string_value(json_object_get(line, "format"));

	if (format)
		a->is_ring = !strcmp(format, "ring");
	a->has_errors = a->has_errors || (grade && !strcmp(grade, "error"));
	if (json_object_get(line, "size") && json_object_get(line, "offset"))
		put_anatomy(a, text, line);
	else if (type && !strcmp(type, "header"))
		put_head(a, text);
	else
		put_other(a, text, type ? type : "", grade ? grade : "");
	json_decref(line);
}

/* 0, or -ECANCELED if there is no room for a line of so many bytes. */
static int take_room(struct anatomy *a, size_t size)
{
	a->is_cut = a->lines > a->limit || a->bytes + size > ANATOMY_BYTES;
	if (a->is_cut) {
		a->lines -= a->lines > 0; /* the header's is not counted */
		return -ECANCELED;
	}
	a->lines++;
	a->bytes += size;
	return 0;
}

int anatomy_text(void *context, const char *text, size_t size)
{
	struct anatomy *a = context;
	const char *end = text + size, *newline;
	int err;

	for (; text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		err = out_append(&a->line, text, (size_t)((newline ? newline : end) - text));
		if (err || !newline)
			return err;
		err = take_room(a, (size_t)(a->line.at - a->line.base));
		if (err)
			return err;
		take_whole_line(a, a->line.base);
		a->line.at = a->line.base;
	}
	return 0;
}
