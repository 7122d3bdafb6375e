/* SPDX-License-Identifier: MIT */
/*
 * perfabi report: reports of several machines as one page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "page/page.h"
#include "page/table.h"
#include "text/json_text.h"
#include "text/options.h"
#include "text/outfile.h"

/*
 * A machine has several reports where several users ran perfabi, or one did again.
 */

static const struct {
	const char *key, *before;
} facts[] = {{"bits", "bits "},         {"uid", "uid "}, {"capabilities", "capabilities "},
	     {"paranoid", "paranoid "}, {"time", ""},    {"file", ""}};
enum { FACTS = sizeof(facts) / sizeof(facts[0]) };

/* "uid 0, paranoid 2": the facts in which the column differs from others of its name. */
static void note_column(const struct column *column, const bool differs[FACTS])
{
	json_t *note = json_string("");

	for (size_t i = 0; i < FACTS; i++) {
		const json_t *value = json_object_get(column->about, facts[i].key);
		char *number =
			json_is_integer(value) ? or_exit(json_text(value, JSON_ENCODE_ANY)) : NULL;
		const char *text = number                  ? number
				   : json_is_string(value) ? json_string_value(value)
							   : "not known";

		/* The file tells them apart where nothing else does. */
		if (differs[i] && (i < FACTS - 1 || !json_string_length(note))) {
			json_t *longer = json_sprintf("%s%s%s%s", json_string_value(note),
						      json_string_length(note) ? ", " : "",
						      facts[i].before, text);

			json_decref(note);
			note = longer;
		}
		free(number);
	}
	json_object_set_new(column->about, "note", note);
}

/*
 * Gives each column of a settled table that has the name, kernel and machine of another a "note" in
 * its `about`: the facts in which they differ.
 */
static void notes_settle(struct table *table)
{
	struct column *end = table->columns + table->column_count, *next;

	for (struct column *first = table->columns; first < end; first = next) {
		bool differs[FACTS] = {false};

		for (next = first + 1;
		     next < end && !strcmp(next->name, first->name) &&
		     !strcmp(next->kernel, first->kernel) && !strcmp(next->machine, first->machine);
		     next++)
			for (size_t i = 0; i < FACTS; i++) {
				json_t *a = json_object_get(first->about, facts[i].key);
				json_t *b = json_object_get(next->about, facts[i].key);

				differs[i] |= a != b && !json_equal(a, b);
			}
		for (struct column *column = first; next - first > 1 && column < next; column++)
			note_column(column, differs);
	}
}

static const char program[] = "perfabi report";

struct wishes {
	const char *output, *title;
};

static const struct option_row rows[] = {
	{"output", 'o', OPTION_TEXT, "FILE", "write the page to FILE (default: standard output)",
	 AT(struct wishes, output)},
	{"title", 0, OPTION_TEXT, "TEXT", "the page's title", AT(struct wishes, title)},
	{0}};

static const struct command_line command_line = {
	.program = program,
	.usage = "usage: perfabi report [OPTIONS] REPORT...\n"
		 "\n"
		 "Makes one HTML page of reports that `perfabi run --format json` or jsonl wrote "
		 "on several\n"
		 "machines: a table of cases by machine, those that differ first. The page needs "
		 "no network and\n"
		 "no other file.\n"
		 "\n",
	.rows = rows,
	.end = "\n"
	       "Exit status: 0 success, 2 wrong usage or a file that is not a report, 3 perfabi "
	       "failed\n"};

/* Once everything was read. An exit status. */
static int write_page(const struct table *table, const struct wishes *wishes, char *const files[])
{
	const char *path = wishes->output;
	struct outfile out;
	struct stat st;
	FILE *f;
	int err;

	if (!path || !strcmp(path, "-")) {
		page_write(stdout, table, wishes->title);
		return 0; /* main() says what cannot be written */
	}
	for (bool is_file = !stat(path, &st) && S_ISREG(st.st_mode); is_file && *files; files++)
		if (is_file_at(*files, &st))
			return fail(EXIT_USAGE,
				    "%s: %s is one of the reports\n"
				    "  write the page to another file\n",
				    program, path);
	err = outfile_open(&out, path, outfile_mode(path));
	if (err)
		return fail(EXIT_USAGE, "%s: cannot write %s: %s\n", program, path, strerror(-err));
	f = outfile_stream(&out);
	if (f)
		page_write(f, table, wishes->title);
	err = f ? outfile_end(&out, f, true) : -errno;
	outfile_close(&out);
	if (err)
		return fail(EXIT_HARNESS, "%s: writing to %s: %s\n", program, path, strerror(-err));
	return 0;
}

static int run(void *settings, char **operands)
{
	const struct wishes *wishes = settings;
	struct table table = {0};
	struct error e = {0};
	int status = 0;

	if (!operands[0]) {
		options_help(&command_line, stderr);
		return EXIT_USAGE;
	}
	for (char **file = operands; *file && !status; file++)
		status = page_read(&table, *file, &e) ? fail_with(program, &e) : 0;
	if (!status) {
		table_settle(&table);
		notes_settle(&table);
		status = write_page(&table, wishes, operands);
	}
	table_free(&table);
	return status;
}

const struct command report_command = {"report",
				       "make one HTML page of reports from several machines",
				       &command_line, sizeof(struct wishes), .run = run};
