/* SPDX-License-Identifier: MIT */
/*
 * Words as they come, a new line before one that has no room.
 */
#include "language/wrap.h"

#include <string.h>

#include "text/say.h"

enum { COLUMNS = 100 };

void text_wrap(const char *text, unsigned indent, FILE *f)
{
	unsigned at = indent;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (at > indent && at + n + 1 > COLUMNS) {
			fprintf(f, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', f);
			at++;
		}
		one_line_print_part(f, text, n, "\n");
		at += (unsigned)n;
		text += n + (text[n] == ' ');
	}
	fputc('\n', f);
}
