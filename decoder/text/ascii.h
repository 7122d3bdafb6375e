/* SPDX-License-Identifier: MIT */
/*
 * Letters and digits of ASCII, whatever locale the program that uses the library has set.
 */
#ifndef PERFABI_ASCII_H
#define PERFABI_ASCII_H

#include <stdbool.h>
#include <string.h>

static inline bool ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline char ascii_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static inline char ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline bool ascii_is_alnum(char c)
{
	return ascii_is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z');
}

/* Whether the name, which is not empty, is in the text, with no letter, digit or _ beside it. */
static inline bool ascii_has_name(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = text; n && (at = strstr(at, name)); at++)
		if ((at == text || (!ascii_is_alnum(at[-1]) && at[-1] != '_')) &&
		    !ascii_is_alnum(at[n]) && at[n] != '_')
			return true;
	return false;
}

#endif
