/* SPDX-License-Identifier: MIT */
/*
 * The parts of the JSON writer that are not short: strings with their escapes, doubles.
 */
#include "text/json.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "text/ascii.h"

size_t utf8_length(const unsigned char *s, size_t n)
{
	size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] > 0xf4 || length > n)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

static char *put_control(char *p, unsigned char c)
{
	static const char letters[] = "btn.fr"; /* from 0x08; there is none for 0x0b */

	if (c >= 8 && c <= 13 && c != 11) {
		*p++ = '\\';
		*p++ = letters[c - 8];
		return p;
	}
	p = put_text(p, "\\u00");
	return put_bytes(p, &c, 1);
}

/* The text in its quotes; *valid is false if some of it is no UTF-8. */
static char *put_quoted(char *p, const unsigned char *s, size_t n, bool *valid)
{
	*p++ = '"';
	while (n) {
		size_t length = 1;

		if (*s >= 0x80) {
			length = utf8_length(s, n);
			if (!length) {
				*valid = false;
				p = put_text(p, "\xef\xbf\xbd");
				length = 1;
			} else if (length == 2 && s[0] == 0xc2 && s[1] < 0xa0) {
				p = put_control(p, s[1]); /* U+0080 to U+009F */
			} else {
				memcpy(p, s, length);
				p += length;
			}
		} else if (*s < 0x20 || *s == 0x7f) {
			p = put_control(p, *s);
		} else {
			if (*s == '"' || *s == '\\')
				*p++ = '\\';
			*p++ = (char)*s;
		}
		s += length;
		n -= length;
	}
	*p++ = '"';
	return p;
}

char *put_lossy(char *p, const unsigned char *bytes, size_t n)
{
	bool valid;

	return put_quoted(p, bytes, n, &valid);
}

char *put_string(char *p, const unsigned char *bytes, size_t n)
{
	char *start = p;
	bool valid = true;

	p = put_quoted(p, bytes, n, &valid);
	if (valid)
		return p;
	p = put_quoted(put_text(start, "{\"text\":"), bytes, n, &valid);
	p = put_text(p, ",\"bytes\":\"");
	p = put_bytes(p, bytes, n);
	return put_text(p, "\"}");
}

char *put_i64(char *p, uint64_t v)
{
	return v <= INT64_MAX ? put_u64(p, v) : put_text(put_hex(put_text(p, "\"0x"), v), "\"");
}

/* What the caller's locale has for a decimal point becomes one; returns the new end. */
static char *point_of(char *p, char *end)
{
	char *from = p, *to;

	while (from < end && (ascii_is_digit(*from) || strchr("+-eE", *from)))
		from++;
	to = from;
	while (to < end && !ascii_is_digit(*to))
		to++;
	if (from == to)
		return end;
	*from++ = '.';
	memmove(from, to, (size_t)(end - to));
	return from + (end - to);
}

char *put_double(char *p, double v)
{
	for (int digits = 15; isfinite(v) && digits <= 17; digits++) {
		int n = snprintf(p, 32, "%.*g", digits, v);

		if (digits == 17 || strtod(p, NULL) == v)
			return point_of(p, p + n);
	}
	return put_text(p, isnan(v) ? "\"nan\"" : v < 0 ? "\"-inf\"" : "\"inf\"");
}
