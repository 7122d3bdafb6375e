/* SPDX-License-Identifier: MIT */
/*
 * Texts that are printed a line each: titles, reasons, where a promise stands.
 */
#ifndef PERFABI_ONE_LINE_H
#define PERFABI_ONE_LINE_H

#include <stdbool.h>
#include <stdio.h>

/* True if `text`, which is UTF-8, is not blank and has no control characters: C0, DEL or C1. */
bool one_line(const char *text);

/* Prints `text` as say() does, but for the bytes of `without`, each of which becomes a space. */
void one_line_print(FILE *f, const char *text, const char *without);

/* The same of the first `length` bytes of `text`. */
void one_line_print_part(FILE *f, const char *text, size_t length, const char *without);

#endif
