/* SPDX-License-Identifier: MIT */
/*
 * Only what picks the files and the baseline: a case is run again by its id.
 */
#include "command/again.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/load.h"

/* A word for a shell: as it is, or in quotes. */
static void put_word(FILE *f, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./:@%,";

	if (word[0] && !word[strspn(word, plain)]) {
		fprintf(f, " %s", word);
		return;
	}
	fputs(" '", f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}

char *again_command(const char *folder, const char *baseline, char *const arguments[])
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs("perfabi run", f);
	if (folder) {
		fputs(" --cases", f);
		put_word(f, folder);
	}
	if (baseline) {
		fputs(" --baseline", f);
		put_word(f, baseline);
	}
	for (size_t i = 0; arguments[i]; i++)
		if (is_path(arguments[i]))
			put_word(f, arguments[i]);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}
