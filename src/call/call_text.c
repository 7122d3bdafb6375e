/* SPDX-License-Identifier: MIT */
/*
 * JSON with numbers above 2^63 - 1, which jansson does not read.
 */
#include "call/call_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits of the longest number that jansson is sure to read, and of 2^64 - 1. */
enum { DIGITS_SAFE = 18, DIGITS_MOST = 20 };

/*
 * Numbers above 2^63-1 are well-formed JSON, and jansson reads none: as texts they are the same to
 * value_eval(). A copy with these between quotes, to be freed; NULL without memory.
 */
static char *quote_large_numbers(const char *line, size_t size)
{
	char *copy = malloc(size * 2 + 1), *to = copy;
	bool in_text = false;

	for (size_t i = 0; copy && i < size; i++) {
		size_t n = in_text ? 0 : strspn(line + i, "0123456789");

		if (n > DIGITS_SAFE && n <= DIGITS_MOST && (!i || line[i - 1] != '-')) {
			to += sprintf(to, "\"%.*s\"", (int)n, line + i);
			i += n - 1;
			continue;
		}
		if (in_text && line[i] == '\\' && i + 1 < size)
			*to++ = line[i++];
		else if (line[i] == '"')
			in_text = !in_text;
		*to++ = line[i];
	}
	if (copy)
		*to = '\0';
	return copy;
}

json_t *call_text_parse(const struct source *source, struct error *e)
{
	json_error_t why;
	json_t *json = json_loadb(source->text, source->length, JSON_REJECT_DUPLICATES, &why);
	char *quoted;

	if (json)
		return json;
	quoted = json_error_code(&why) == json_error_numeric_overflow
			 ? quote_large_numbers(source->text, source->length)
			 : NULL;
	if (quoted)
		json = json_loads(quoted, JSON_REJECT_DUPLICATES, NULL);
	free(quoted);
	return json ? json : source_parse(source, e);
}
