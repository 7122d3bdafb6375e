/* SPDX-License-Identifier: MIT */
/*
 * perfabi diff: what differs between two reports, or two machines' capabilities.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "diff/diff.h"
#include "run/child.h"
#include "text/say.h"

static const char program[] = "perfabi diff";

static const char help[] =
	"usage: perfabi diff [OPTIONS] A B\n\n"
	"Says what differs between two files that perfabi run --format json or jsonl wrote, or two "
	"of\n"
	"perfabi probe --json: what is worse in B first. - is standard input.\n\n"
	"  -f, --format FORMAT      text (default), json, or markdown for a merge request\n"
	"      --json               the same as --format json\n"
	"  -v, --verbose            each case by itself, where many differ alike\n"
	"  -h, --help\n\n"
	"Exit status: 0 nothing is worse in B, 1 something is, or B's run has no end, 2 wrong "
	"usage "
	"or\n"
	"input, 3 perfabi itself failed.\n";

static void write_json(const json_t *diff, bool is_long, FILE *f)
{
	char *text = json_dumps(diff, JSON_INDENT(1));

	(void)is_long;
	fprintf(f, "%s\n", text ? text : "");
	free(text);
}

static const struct diff_format {
	const char *name;
	void (*write)(const json_t *diff, bool is_long, FILE *f);
} formats[] = {{"text", diff_text}, {"json", write_json}, {"markdown", diff_markdown}};

static const struct option long_options[] = {{"format", required_argument, NULL, 'f'},
					     {"json", no_argument, NULL, 'J'},
					     {"verbose", no_argument, NULL, 'v'},
					     {"help", no_argument, NULL, 'h'},
					     {NULL, 0, NULL, 0}};

static const struct diff_format *format_called(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	say(stderr, "%s: --format \"%s\"\n  expected: text, json or markdown\n", program, name);
	return NULL;
}

/* 0, or an exit status after a message. */
static int read_side(struct side *side, const char *path)
{
	struct error e = {0};
	int err = side_read(side, path, &e);

	if (err && error_is_set(&e))
		error_print(stderr, program, &e);
	else if (err)
		say(stderr, "%s: %s: %s\n", program, path, strerror(-err));
	return err ? EXIT_USAGE : 0;
}

static int write_difference(const struct side *a, const struct side *b,
			    const struct diff_format *format, bool is_long)
{
	json_t *diff;
	int status;

	if (a->kind != b->kind) {
		say(stderr,
		    "%s: one of these files is of perfabi run, the other of perfabi probe\n"
		    "  give two of the same kind\n",
		    program);
		return EXIT_USAGE;
	}
	diff = diff_sides(a, b);
	if (!diff) {
		say(stderr, "%s: %s\n", program, strerror(ENOMEM));
		return EXIT_HARNESS;
	}
	format->write(diff, is_long, stdout);
	status = json_array_size(json_object_get(diff, "worse")) || !b->has_end ? EXIT_FAILED : 0;
	json_decref(diff);
	return status;
}

static int diff_files(char *const paths[], const struct diff_format *format, bool is_long)
{
	struct side a = {0}, b = {0};
	int status;

	if (!paths[0] || !paths[1] || paths[2]) {
		say(stderr, "%s: expected two files\n  `perfabi diff --help` shows how\n", program);
		return EXIT_USAGE;
	}
	status = read_side(&a, paths[0]);
	if (!status)
		status = read_side(&b, paths[1]);
	if (!status)
		status = write_difference(&a, &b, format, is_long);
	side_free(&a);
	side_free(&b);
	return status;
}

int command_diff(int argc, char **argv)
{
	const struct diff_format *format = &formats[0];
	bool is_long = false;
	int option;

	while ((option = getopt_long(argc, argv, "f:vh", long_options, NULL)) != -1) {
		switch (option) {
		case 'f':
			format = format_called(optarg);
			break;
		case 'J':
			format = &formats[1];
			break;
		case 'v':
			is_long = true;
			break;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			say(stderr, "  `perfabi diff --help` lists the options\n");
			return EXIT_USAGE;
		}
		if (!format)
			return EXIT_USAGE;
	}
	return diff_files(argv + optind, format, is_long);
}
