/* SPDX-License-Identifier: MIT */
/*
 * perfabi diff: what differs between two reports, or two machines' capabilities.
 */
#include <string.h>

#include "command/command.h"
#include "diff/diff.h"
#include "text/json_text.h"
#include "text/options.h"

static const char program[] = "perfabi diff";

static void write_json(const json_t *diff, bool is_long, FILE *f)
{
	(void)is_long;
	(void)f;
	print_json(json_incref((json_t *)diff), JSON_INDENT(1));
}

typedef void write_diff(const json_t *diff, bool is_long, FILE *f);
static write_diff *const formats[] = {diff_text, write_json, diff_markdown};

struct settings {
	int format; /* index in formats */
	bool is_long;
};

static const struct option_row rows[] = {
	{"format", 'f', OPTION_WORD, "FORMAT",
	 "text (default), json, or markdown (for merge requests)", AT(struct settings, format),
	 .words = (const char *const[]){"text", "json", "markdown", NULL}},
	{"json", 0, OPTION_IS, NULL, "same as --format json", AT(struct settings, format),
	 .least = 1},
	{"verbose", 'v', OPTION_SET, NULL,
	 "print every case, even where many differ in the same way", AT(struct settings, is_long)},
	{0}};

static const struct command_line command_line = {
	.program = program,
	.usage = "usage: perfabi diff [OPTIONS] A B\n"
		 "\n"
		 "Compares two files written by perfabi run --format json or jsonl, or two by "
		 "perfabi probe\n"
		 "--json, and shows first what is worse in B. - is standard input.\n"
		 "\n",
	.rows = rows,
	.end = "\n"
	       "Exit status: 0 nothing is worse in B, 1 something is, or B's run did not finish, 2 "
	       "wrong usage\n"
	       "or input, 3 perfabi itself failed.\n"};

static int run(void *settings, char **paths)
{
	const struct settings *s = settings;
	json_t *a = NULL, *b = NULL;
	struct error e = {0};
	int status = 0;

	if (!paths[0] || !paths[1] || paths[2])
		return fail(EXIT_USAGE,
			    "%s: expected two files\n  `perfabi diff --help` shows how\n", program);
	a = side_read(paths[0], &e);
	if (a)
		b = side_read(paths[1], &e);
	if (!b) {
		status = fail_with(program, &e);
	} else if (strcmp(member_text(a, "type"), member_text(b, "type")) != 0) {
		status = fail(
			EXIT_USAGE,
			"%s: one of these files is of perfabi run, the other of perfabi probe\n"
			"  give two of the same kind\n",
			program);
	} else {
		json_t *diff = diff_sides(a, b);

		formats[s->format](diff, s->is_long, stdout);
		if (json_array_size(json_object_get(diff, "worse")) ||
		    json_is_false(json_object_get(json_object_get(b, "about"), "ended")))
			status = EXIT_FAILED;
		json_decref(diff);
	}
	json_decref(a);
	json_decref(b);
	return status;
}

const struct command diff_command = {"diff", "compare two reports or machines, regressions first",
				     &command_line, sizeof(struct settings), .run = run};
