/* SPDX-License-Identifier: MIT */
/*
 * Text for people in lines that fit a terminal.
 */
#ifndef PERFABI_WRAP_H
#define PERFABI_WRAP_H

#include <stdio.h>

/*
 * Writes the text and a newline, in lines of at most 100 columns where its words allow it. The
 * first line begins at column `indent`, which the caller has written up to; the others are indented
 * as far. Control characters are shown, as say() does, and newlines become spaces.
 */
void text_wrap(const char *text, unsigned indent, FILE *f);

#endif
