/* SPDX-License-Identifier: MIT */
/*
 * The options of a command. A row is what getopt_long(3) knows of one, how its value is checked,
 * and what --help says of it.
 */
#ifndef PERFABI_OPTIONS_H
#define PERFABI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "text/doc.h"

struct option_row {
	const char *name; /* behind --; NULL ends the rows */
	char letter;      /* or 0 */
	enum option_kind {
		OPTION_SET, /* without a value: a bool becomes true */
		OPTION_IS,  /* the same: an int becomes `least` */
		OPTION_TEXT,
		OPTION_WORD,     /* one of `words`, of which an int becomes the index */
		OPTION_UNSIGNED, /* from `least` to `most`, as those below */
		OPTION_INT,
		OPTION_U64, /* `most` 0: any */
		OPTION_SECONDS,
		OPTION_TAKEN, /* by a function */
		OPTION_ROWS,  /* no option, but those of a part of the settings */
		OPTION_TITLE  /* no option, but a line of --help, which is `name` */
	} kind;
	const char *argument; /* what --help calls its value; NULL: it has none */
	const char *help;
	size_t at; /* of what it sets, in the settings */
	double least, most;
	const char *const *words; /* the last is NULL */
	/* Takes it, with its value or NULL. 0, or another number after a message. */
	int (*take)(void *at, const char *value, const struct option_row *row, const char *program);
	size_t given; /* offset of a bool that says whether it is there; 0: nobody asks */
	const struct option_row *rows;
};

struct command_line {
	const char *program; /* "perfabi run", for messages */
	const char *usage;   /* what --help begins with */
	const struct option_row *rows;
	const char *end;       /* what it ends with, or NULL */
	bool stops_at_operand; /* what is behind the first operand are no options */
	int most;              /* operands; 0: any number */
	/* What is wrong with one more, a format with %s; NULL: `most` is not looked at. */
	const char *too_many;
};

/*
 * Reads the options, without changing the order of what else is there if stops_at_operand; optind
 * is the first operand. 0; 1 after --help was printed; -EINVAL after a message.
 */
int options_read(const struct command_line *line, void *settings, int argc, char **argv);

/* What --help prints. */
void options_help(const struct command_line *line, FILE *f);

/* Says that an option's value is none; -EINVAL. */
int option_bad_value(const char *program, const char *option, const char *got,
		     const char *expected);

#endif
