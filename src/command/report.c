/* SPDX-License-Identifier: MIT */
/*
 * perfabi report: reports of several machines as one page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "page/page.h"
#include "text/json_text.h"
#include "text/options.h"
#include "text/outfile.h"

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
		status = write_page(&table, wishes, operands);
	}
	table_free(&table);
	return status;
}

const struct command report_command = {"report",
				       "make one HTML page of reports from several machines",
				       &command_line, sizeof(struct wishes), .run = run};
