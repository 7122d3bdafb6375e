/* SPDX-License-Identifier: MIT */
/*
 * A baseline as people write it: three lines or so an entry, wrapped, in the order of its keys.
 */
#include "run/baseline_update.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 160, INDENT = 5 };

/* A text that knows how far its line has come. */
struct column_writer {
	FILE *f;
	size_t column;
};

static void write_text(struct column_writer *w, const char *text)
{
	fputs(text, w->f);
	w->column += strlen(text);
}

static void break_line(struct column_writer *w, size_t indent)
{
	fprintf(w->f, "\n%*s", (int)indent, "");
	w->column = indent;
}

/* A list that does not fit goes on below its first element. */
static void write_list(struct column_writer *w, const json_t *list)
{
	size_t indent, i;
	json_t *one;

	write_text(w, "[");
	indent = w->column;
	json_array_foreach(list, i, one) {
		char *text = json_dumps(one, JSON_ENCODE_ANY);

		if (i)
			write_text(w, ",");
		if (i && w->column + 1 + strlen(text ? text : "") + 2 > WIDTH)
			break_line(w, indent);
		else if (i)
			write_text(w, " ");
		write_text(w, text ? text : "null");
		free(text);
	}
	write_text(w, "]");
}

/* Where a key begins a line of its own, whatever there is room for. */
static bool begins_line(const char *key, const char *before)
{
	return !strcmp(key, "function") || (before && !strcmp(before, "why")) ||
	       (before && !strcmp(key, "why") && strcmp(before, "function") != 0);
}

static void write_member(struct column_writer *w, const char *key, const json_t *value,
			 const char *before)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY);
	size_t length = strlen(key) + strlen(text ? text : "") + 6;

	if (before)
		write_text(w, ",");
	if (before &&
	    (begins_line(key, before) || (strcmp(key, "why") != 0 && w->column + length > WIDTH)))
		break_line(w, INDENT);
	else if (before)
		write_text(w, " ");
	write_text(w, "\"");
	write_text(w, key);
	write_text(w, "\": ");
	if (json_is_array(value) && w->column + strlen(text ? text : "") > WIDTH)
		write_list(w, value);
	else
		write_text(w, text ? text : "null");
	free(text);
}

static void write_deviation(FILE *f, const json_t *entry)
{
	struct column_writer w = {.f = f};
	const char *key, *before = NULL;
	json_t *value;

	write_text(&w, "    {");
	json_object_foreach((json_t *)entry, key, value) {
		write_member(&w, key, value, before);
		before = key;
	}
	write_text(&w, "}");
}

static void print_head(const json_t *baseline, const char *key, FILE *f)
{
	char *text = json_dumps(json_object_get(baseline, key), JSON_ENCODE_ANY);

	if (text)
		fprintf(f, "  \"%s\": %s,\n", key, text);
	free(text);
}

void baseline_print(const json_t *baseline, FILE *f)
{
	const json_t *list = json_object_get(baseline, "deviations"), *entry;
	size_t i;

	fputs("{\n", f);
	print_head(baseline, "$schema", f);
	print_head(baseline, "about", f);
	fputs("  \"deviations\": [", f);
	json_array_foreach(list, i, entry) {
		fputs(i ? ",\n" : "\n", f);
		write_deviation(f, entry);
	}
	fputs(json_array_size(list) ? "\n  ]\n}\n" : "]\n}\n", f);
}

int baseline_write(const json_t *baseline, struct outfile *out)
{
	FILE *f = outfile_stream(out);

	if (!f)
		return -errno;
	baseline_print(baseline, f);
	return outfile_end(out, f, true);
}
