/* SPDX-License-Identifier: MIT */
/*
 * A page, line by line, as they come.
 */
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
#include "text/source.h"

/*
 * The text is passed through as it is: a number of 64 bits stays exact. It is what perfabi-decode
 * writes itself, so that it is valid JSON; where it should not be, the rest is written plainly.
 */

/* The members of a record's header, which "at" does not have, come first. */
enum { HEADER_MEMBERS = 3, MEMBER_COLOURS = 8, DEPTH_MAX = 16, PATH_MAX_BYTES = 256 };
static const char *const header_members[HEADER_MEMBERS] = {"type", "misc", "size"};

struct writing {
	FILE *f;
	const char *p; /* what comes next */
	const json_t *at;
	char path[PATH_MAX_BYTES]; /* of the member that is written: "branch_stack.nr" */
	size_t length;
};

/* The beginning of what is marked as the number-th member: `tag`, its class and its number. */
static void members_open(FILE *f, const char *tag, size_t number)
{
	fprintf(f, "<%s class=\"m c%zu\" data-m=%zu", tag, number % MEMBER_COLOURS, number);
}

static const char *end_of_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

/* The member's number, and where it is in the record; -1: it is not marked. */
static int member_number(const struct writing *w, const json_t **place)
{
	const char *name;
	json_t *value;
	int number = HEADER_MEMBERS;

	if (!w->at)
		return -1;
	for (int i = 0; i < HEADER_MEMBERS; i++)
		if (!strcmp(header_members[i], w->path))
			return i;
	*place = json_object_get(w->at, w->path);
	if (!*place)
		return -1;
	json_object_foreach((json_t *)w->at, name, value) {
		if (value == *place)
			return number;
		number++;
	}
	return -1;
}

static void put_any(struct writing *w, int depth);

/* "key": value, marked if "at" has it. */
static void put_marked(struct writing *w, int depth)
{
	const char *end = end_of_string(w->p), *key = w->p + 1;
	size_t before = w->length, size = (size_t)(end - key) - 1;
	const json_t *place = NULL;
	int number = -1;

	if (before + size + 2 < sizeof(w->path)) {
		w->length += (size_t)snprintf(w->path + before, sizeof(w->path) - before, "%s%.*s",
					      before ? "." : "", (int)size, key);
		number = member_number(w, &place);
	}
	if (number >= 0) {
		members_open(w->f, "span", (size_t)number);
		fputs(" tabindex=0>", w->f);
	}
	fputs("<b>", w->f);
	html_piece(w->f, key, size);
	fputs("</b>: ", w->f);
	w->p = *end == ':' ? end + 1 : end;
	put_any(w, depth);
	if (place) /* numbers may have been read as real ones */
		fprintf(w->f, "<small>%.0f+%.0f</small>",
			json_number_value(json_array_get(place, 0)),
			json_number_value(json_array_get(place, 1)));
	if (number >= 0)
		fputs("</span>", w->f);
	w->length = before;
	w->path[before] = '\0';
}

static void put_object(struct writing *w, int depth)
{
	bool is_first = true;

	fputc('{', w->f);
	w->p++;
	while (*w->p && *w->p != '}') {
		if (!depth && !strncmp(w->p, "\"at\":", 5)) { /* it is gone over */
			int inside = 0;

			for (w->p += 5; *w->p && (inside || !strchr(",}", *w->p));
			     w->p = *w->p == '"' ? end_of_string(w->p) : w->p + 1)
				inside += (*w->p == '{' || *w->p == '[') -
					  (*w->p == '}' || *w->p == ']');
		} else {
			fputs(is_first ? "" : ",", w->f);
			fputs(!depth ? "\n  " : is_first ? "" : " ", w->f);
			put_marked(w, depth + 1);
			is_first = false;
		}
		w->p += *w->p == ',';
	}
	fputs(depth ? "}" : "\n}", w->f);
	w->p += *w->p == '}';
}

static void put_any(struct writing *w, int depth)
{
	const char *end;

	if (depth >= DEPTH_MAX) {
		html_text(w->f, w->p);
		w->p += strlen(w->p);
	} else if (*w->p == '{') {
		put_object(w, depth);
	} else if (*w->p == '[') {
		fputc('[', w->f);
		w->p++;
		while (*w->p && *w->p != ']') {
			put_any(w, depth + 1);
			if (*w->p == ',')
				fputs(", ", w->f);
			w->p += *w->p == ',';
		}
		fputc(']', w->f);
		w->p += *w->p == ']';
	} else { /* a string, a number, or a word */
		end = *w->p == '"' ? end_of_string(w->p) : w->p + strcspn(w->p, ",]}");
		html_piece(w->f, w->p, (size_t)(end - w->p));
		w->p = end;
	}
}

static void members_write(FILE *f, const char *line, const json_t *at)
{
	struct writing w = {.f = f, .p = line, .at = at};

	put_any(&w, 0);
}

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
	/* the header's size, in one byte order or the other, is the line's: the bytes are the
	 * record's */
	return load_word(r->byte + 6, 2, LITTLE) == r->size ||
			       load_word(r->byte + 6, 2, BIG) == r->size
		       ? NULL
		       : "The bytes cannot be found again in the file.";
}

/* Bytes of one member that stand together in a row, in hexadecimal or as text. */
static void put_bytes_of(FILE *f, const struct record_bytes *r, size_t at, size_t end, bool as_text)
{
	if (r->owner[at] >= 0) {
		members_open(f, "span", (size_t)r->owner[at]);
		fputc('>', f);
	}
	for (size_t i = at; i < end; i++) {
		char c = r->byte[i] >= 0x20 && r->byte[i] < 0x7f ? (char)r->byte[i] : '.';

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
	if (json_object_get(line, "size") && json_object_get(line, "offset")) {
		put_anatomy(a, text, line);
	} else if (type && !strcmp(type, "header")) { /* it is long, and stands before all else */
		fputs("<details><summary>header</summary><pre class=json>", a->f);
		members_write(a->f, text, NULL);
		fputs("</pre></details>\n", a->f);
	} else { /* the summary, and diagnostics with their grade */
		fputs("<section class=\"other ", a->f);
		html_text(a->f, grade ? grade : "");
		fputs("\"><h2>", a->f);
		html_text(a->f, type ? type : "");
		fputs("</h2><pre class=json>", a->f);
		members_write(a->f, text, NULL);
		fputs("</pre></section>\n", a->f);
	}
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
