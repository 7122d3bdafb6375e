/* SPDX-License-Identifier: MIT */
/*
 * What is one line of text, and what comes from elsewhere printed as one.
 */
#include "text/one_line.h"

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

/* How much of the first `length` bytes say() takes at once, cut where a character begins. */
static size_t piece(const char *text, size_t length, const char *without)
{
	size_t n = 0;

	while (n < length && n < 4096 && !strchr(without, text[n]))
		n++;
	if (n == 4096)
		while (n > 4092 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	return n;
}

void one_line_print_part(FILE *f, const char *text, size_t length, const char *without)
{
	const char *end = text + length;

	while (text < end) {
		size_t n = piece(text, (size_t)(end - text), without);

		say(f, "%.*s", (int)n, text);
		text += n;
		if (text < end && strchr(without, *text)) {
			fputc(' ', f);
			text++;
		}
	}
}

void one_line_print(FILE *f, const char *text, const char *without)
{
	one_line_print_part(f, text, strlen(text), without);
}
