/* SPDX-License-Identifier: MIT */
/*
 * From rows to getopt_long(3), to values in a struct, and to the text of --help.
 */
#include "text/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/error.h"
#include "text/say.h"

enum { OPTIONS_MAX = 48, LONG_ONLY = 256, COLUMN = 27, WIDTH = 92 };

/* The rows of a command in one list, each with the part of the settings that its value goes to. */
struct known {
	struct {
		const struct option_row *row;
		size_t base; /* of that struct, in the settings */
	} list[OPTIONS_MAX];
	int count;
};

/* NOLINTNEXTLINE(misc-no-recursion): as deep as parts of settings have parts */
static void collect(struct known *known, const struct option_row *rows, size_t base)
{
	for (; rows->name && known->count < OPTIONS_MAX; rows++) {
		if (rows->kind == OPTION_ROWS) {
			collect(known, rows->rows, base + rows->at);
			continue;
		}
		known->list[known->count].row = rows;
		known->list[known->count++].base = base;
	}
}

int option_bad_value(const char *program, const char *option, const char *got, const char *expected)
{
	say(stderr, "%s: --%s \"%s\"\n  expected: %s\n", program, option, got, expected);
	return -EINVAL;
}

static int take_in_range(const char *program, const struct option_row *row, const char *value,
			 void *out)
{
	bool is_seconds = row->kind == OPTION_SECONDS, is_signed = row->least < 0;
	char expected[96], *end;
	unsigned long long number = 0;
	double seconds;

	errno = 0;
	if (is_seconds) {
		seconds = strtod(value, &end);
	} else if (is_signed) {
		number = (unsigned long long)strtoll(value, &end, 10);
		seconds = (double)(long long)number;
	} else {
		number = strtoull(value, &end, row->kind == OPTION_U64 ? 0 : 10);
		seconds = (double)number;
	}
	if (!strchr(is_signed ? "-0123456789" : "0123456789.", value[0]) || end == value || *end ||
	    errno || !(seconds >= row->least && (row->most <= 0 || seconds <= row->most))) {
		const char *unit = is_seconds ? "seconds" : "a number";

		snprintf(expected, sizeof(expected), "%s%s from %.10g to %.10g", unit,
			 is_seconds ? "," : "", row->least, row->most);
		return option_bad_value(program, row->name, value, row->most > 0 ? expected : unit);
	}
	if (is_seconds)
		memcpy(out, &seconds, sizeof(seconds));
	else if (row->kind == OPTION_U64)
		memcpy(out, &(uint64_t){number}, sizeof(uint64_t));
	else
		memcpy(out, &(unsigned){(unsigned)number}, sizeof(unsigned));
	return 0;
}

static int take_option(const char *program, const struct option_row *row, unsigned char *settings,
		       const char *value)
{
	char expected[256];
	int word;

	if (row->given)
		settings[row->given] = true;
	switch (row->kind) {
	case OPTION_SET:
		settings[row->at] = true;
		return 0;
	case OPTION_IS:
		memcpy(settings + row->at, &(int){(int)row->least}, sizeof(int));
		return 0;
	case OPTION_TEXT:
		memcpy(settings + row->at, &value, sizeof(value));
		return 0;
	case OPTION_WORD:
		word = name_index(value, row->words, NULL);
		if (word < 0)
			return option_bad_value(
				program, row->name, value,
				words_as_text(row->words, expected, sizeof(expected)));
		memcpy(settings + row->at, &word, sizeof(word));
		return 0;
	case OPTION_TAKEN:
		return row->take(settings + row->at, value, row, program) ? -EINVAL : 0;
	default:
		return take_in_range(program, row, value, settings + row->at);
	}
}

int options_read(const struct command_line *line, void *settings, int argc, char **argv)
{
	struct known known = {.count = 0};
	struct option options[OPTIONS_MAX + 2];
	char letters[2 * OPTIONS_MAX + 3], *at = letters;
	int option, count = 0;

	collect(&known, line->rows, 0);
	if (line->stops_at_operand)
		*at++ = '+';
	for (int i = 0; i < known.count; i++) {
		const struct option_row *row = known.list[i].row;

		if (row->kind == OPTION_TITLE)
			continue;
		options[count++] =
			(struct option){row->name, row->argument ? required_argument : no_argument,
					NULL, LONG_ONLY + i};
		if (row->letter)
			*at++ = row->letter;
		if (row->letter && row->argument)
			*at++ = ':';
	}
	options[count++] = (struct option){"help", no_argument, NULL, 'h'};
	options[count] = (struct option){0};
	*at++ = 'h';
	*at = '\0';
	while ((option = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		int i = option - LONG_ONLY;

		if (option == 'h') {
			options_help(line, stdout);
			return 1;
		}
		if (option == '?') {
			say(stderr, "  `%s --help` lists the options\n", line->program);
			return -EINVAL;
		}
		for (int k = 0; i < 0 && k < known.count; k++)
			if (known.list[k].row->letter == option)
				i = k;
		if (take_option(line->program, known.list[i].row,
				(unsigned char *)settings + known.list[i].base, optarg))
			return -EINVAL;
	}
	if (!line->too_many || optind + line->most >= argc)
		return 0;
	say(stderr, "%s: ", line->program);
	say(stderr, line->too_many, argv[optind + line->most]);
	say(stderr, "\n");
	return -EINVAL;
}

void options_help(const struct command_line *line, FILE *f)
{
	struct known known = {.count = 0};

	fputs(line->usage, f);
	collect(&known, line->rows, 0);
	for (int i = 0; i < known.count; i++) {
		const struct option_row *row = known.list[i].row;
		char letter[] = {'-', row->letter, ',', '\0'};
		int column, at;

		if (row->kind == OPTION_TITLE) {
			fprintf(f, "%s%s\n", i ? "\n" : "", row->name);
			continue;
		}
		column = fprintf(f, "  %3s --%s%s%s", row->letter ? letter : "", row->name,
				 row->argument ? " " : "", row->argument ? row->argument : "");
		at = column < COLUMN ? COLUMN : column + 2;
		fprintf(f, "%*s", at - column, "");
		say_wrapped(f, row->help, (unsigned)at, COLUMN, WIDTH);
	}
	fprintf(f, "  -h, --help\n%s", line->end ? line->end : "");
}
