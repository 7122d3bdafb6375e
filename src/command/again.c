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
		fputs(word, f);
		return;
	}
	fputc('\'', f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}

static void add_option(json_t *words, const char *name, const char *value)
{
	if (!value)
		return;
	json_array_append_new(words, json_string(name));
	json_array_append_new(words, json_stringn_nocheck(value, strlen(value)));
}

json_t *again_words(const char *folder, const char *baseline, char *const arguments[])
{
	json_t *words = json_pack("[s, s]", "perfabi", "run");

	add_option(words, "--cases", folder);
	add_option(words, "--baseline", baseline);
	for (size_t i = 0; arguments[i]; i++)
		if (is_path(arguments[i]))
			json_array_append_new(
				words, json_stringn_nocheck(arguments[i], strlen(arguments[i])));
	return words;
}

char *again_command(const json_t *words)
{
	char *text = NULL;
	const json_t *word;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	json_array_foreach(words, i, word) {
		fputs(i ? " " : "", f);
		put_word(f, json_string_value(word));
	}
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}
