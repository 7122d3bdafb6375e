/* SPDX-License-Identifier: MIT */
/*
 * Messages for a terminal. Names of files and members come from anywhere: what would move the
 * cursor or change colours is shown and not sent.
 */
#ifndef PERFABI_SAY_H
#define PERFABI_SAY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * As fprintf(), but control characters other than newline and tab, and bytes that are no UTF-8,
 * come out as \x1b. A message is cut at 8,191 bytes.
 */
void say(FILE *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void say_list(FILE *f, const char *format, va_list args);

/*
 * The same of a text that goes into a line of a report, where newlines and tabs are shown too. Cut
 * to fit; returns `out`, which has four bytes for each of `text` if it is not to be.
 */
const char *say_harmless(const char *text, char *out, size_t size);

/* True if `text`, which is UTF-8, is not blank and has no control characters: C0, DEL or C1. */
bool one_line(const char *text);

/* Prints `text` as say() does, but for the bytes of `without`, each of which becomes a space. */
void one_line_print(FILE *f, const char *text, const char *without);

/*
 * Prints the words of `text`, which begins at column `at`, and a newline: in lines of at most
 * `width` columns where words allow it, of which all but the first begin at column `indent`.
 * Newlines become spaces; other control characters are shown.
 */
enum { SAY_COLUMNS = 100 }; /* the width of what people read */
void say_wrapped(FILE *f, const char *text, unsigned at, unsigned indent, unsigned width);

/* "a, b or c", of a NULL-terminated list, cut to fit. Returns `out`. */
const char *words_as_text(const char *const words[], char *out, size_t size);

#endif
