/* SPDX-License-Identifier: MIT */
/*
 * The text is passed through as it is: a number of 64 bits stays exact. It is what perfabi-decode
 * writes itself, so that it is valid JSON; where it should not be, the rest is written plainly.
 */
#include "html/members.h"

#include <stdbool.h>

#include <string.h>

#include "html/html.h"

enum { DEPTH_MAX = 16, PATH_MAX_BYTES = 256 };

const char *const header_members[HEADER_MEMBERS + 1] = {"type", "misc", "size", NULL};

struct writing {
	FILE *f;
	const char *p; /* what comes next */
	const json_t *at;
	char path[PATH_MAX_BYTES]; /* of the member that is written: "branch_stack.nr" */
	size_t length;
};

void members_open(FILE *f, const char *tag, size_t number)
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

/* Of a string, a number, or a word. */
static const char *end_of_scalar(const char *p)
{
	return *p == '"' ? end_of_string(p) : p + strcspn(p, ",]}");
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

/* Numbers may have been read as real ones. */
static void put_extent(FILE *f, const json_t *place)
{
	fprintf(f, "<small>%.0f+%.0f</small>", json_number_value(json_array_get(place, 0)),
		json_number_value(json_array_get(place, 1)));
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
	if (place)
		put_extent(w->f, place);
	if (number >= 0)
		fputs("</span>", w->f);
	w->length = before;
	w->path[before] = '\0';
}

/* Goes over a value. */
static void go_over(struct writing *w)
{
	for (int depth = 0; *w->p; w->p = *w->p == '"' ? end_of_string(w->p) : w->p + 1) {
		if (!depth && (*w->p == ',' || *w->p == '}'))
			return;
		depth += (*w->p == '{' || *w->p == '[') - (*w->p == '}' || *w->p == ']');
	}
}

static bool is_at(const char *p)
{
	return !strncmp(p, "\"at\":", 5);
}

static void put_object(struct writing *w, int depth)
{
	bool is_first = true;

	fputc('{', w->f);
	w->p++;
	while (*w->p && *w->p != '}') {
		if (!depth && is_at(w->p)) {
			w->p += 5;
			go_over(w);
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

static void put_list(struct writing *w, int depth)
{
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
		put_list(w, depth);
	} else {
		end = end_of_scalar(w->p);
		html_piece(w->f, w->p, (size_t)(end - w->p));
		w->p = end;
	}
}

void members_write(FILE *f, const char *line, const json_t *at)
{
	struct writing w = {.f = f, .p = line, .at = at};

	put_any(&w, 0);
}
