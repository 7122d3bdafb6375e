/* SPDX-License-Identifier: MIT */
/*
 * What is sent to a terminal as it is, and what is shown instead.
 */
#include "text/say.h"

#include <stdbool.h>
#include <string.h>

#include "text/json.h"

enum { MESSAGE_MAX = 8192 };

/* U+0080 to U+009F; what ends a line or turns writing round: U+2028 to U+202E, U+2066 to U+2069. */
static bool is_control(const unsigned char *text, size_t n)
{
	if (n == 2)
		return text[0] == 0xc2 && text[1] < 0xa0;
	if (n != 3 || text[0] != 0xe2)
		return false;
	return (text[1] == 0x80 && text[2] >= 0xa8 && text[2] <= 0xae) ||
	       (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9);
}

/*
 * Bytes of the character at `text`, of at least one and at most `size`, that can be sent as they
 * are; 0: the first byte is to be shown, as of control characters but newline and tab, and of these
 * unless `with_breaks`.
 */
static size_t sendable_length(const unsigned char *text, size_t size, bool with_breaks)
{
	size_t n;

	if (*text == '\n' || *text == '\t')
		return with_breaks;
	if (*text < 0x20 || *text == 0x7f)
		return 0;
	n = utf8_length(text, size);
	return is_control(text, n) ? 0 : n;
}

/* The text with what cannot be sent shown, cut to fit. Its length. */
static size_t show(const char *text, bool with_breaks, char *out, size_t size)
{
	const unsigned char *from = (const unsigned char *)text;
	size_t left = strlen(text), at = 0;

	while (left) {
		size_t n = sendable_length(from, left, with_breaks);
		size_t step = n ? n : 1, shown = n ? n : sizeof("\\xff") - 1;

		if (at + shown >= size)
			break;
		if (n)
			memcpy(out + at, from, n);
		else
			snprintf(out + at, size - at, "\\x%02x", *from);
		at += shown;
		from += step;
		left -= step;
	}
	out[at] = '\0';
	return at;
}

void say_list(FILE *f, const char *format, va_list args)
{
	char message[MESSAGE_MAX], shown[4 * MESSAGE_MAX];

	vsnprintf(message, sizeof(message), format, args);
	fwrite(shown, 1, show(message, true, shown, sizeof(shown)), f);
}

const char *say_harmless(const char *text, char *out, size_t size)
{
	show(text, false, out, size);
	return out;
}

void say(FILE *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_list(f, format, args);
	va_end(args);
}

bool one_line(const char *text)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);

	while (at < end) {
		size_t n = sendable_length(at, (size_t)(end - at), false);

		if (!n)
			return false;
		at += n;
	}
	return text[strspn(text, " ")] != '\0';
}

static void one_line_print_part(FILE *f, const char *text, size_t length, const char *without)
{
	for (size_t n; length; text += n, length -= n) {
		size_t sendable = sendable_length((const unsigned char *)text, length, true);

		n = sendable ? sendable : 1;
		if (strchr(without, *text))
			fputc(' ', f);
		else if (sendable)
			fwrite(text, 1, n, f);
		else
			fprintf(f, "\\x%02x", (unsigned char)*text);
	}
}

void one_line_print(FILE *f, const char *text, const char *without)
{
	one_line_print_part(f, text, strlen(text), without);
}

void say_wrapped(FILE *f, const char *text, unsigned at, unsigned indent, unsigned width)
{
	for (bool is_first = true; *text; is_first = false) {
		size_t n = strcspn(text, " ");

		if (!is_first && at + 1 + n > width)
			fprintf(f, "\n%*s", (int)(at = indent), "");
		else if (!is_first)
			at += (unsigned)fprintf(f, " ");
		one_line_print_part(f, text, n, "\n");
		at += (unsigned)n;
		text += n + strspn(text + n, " ");
	}
	fputc('\n', f);
}

const char *words_as_text(const char *const words[], char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; words[i] && n < size; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s",
				      !i             ? ""
				      : words[i + 1] ? ", "
						     : " or ",
				      words[i]);
	return out;
}
