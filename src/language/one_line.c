/* SPDX-License-Identifier: MIT */
/*
 * What is one line of text, and what comes from elsewhere printed as one.
 */
#include "language/one_line.h"

#include <string.h>

#include "text/say.h"

bool one_line(const char *text)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);

	while (at < end) {
		size_t n = *at < 0x20 ? 0 : say_length(at, (size_t)(end - at));

		if (!n)
			return false;
		at += n;
	}
	return text[strspn(text, " ")] != '\0';
}

/* As much of `text` as say() takes at once, cut where a character begins. */
static size_t piece(const char *text, const char *without)
{
	size_t n = strcspn(text, without);

	if (n > 4096)
		for (n = 4096; n > 4092 && ((unsigned char)text[n] & 0xc0) == 0x80;)
			n--;
	return n;
}

void one_line_print(FILE *f, const char *text, const char *without)
{
	while (*text) {
		size_t n = piece(text, without);

		say(f, "%.*s", (int)n, text);
		text += n;
		if (*text && strchr(without, *text)) {
			fputc(' ', f);
			text++;
		}
	}
}
