/* SPDX-License-Identifier: MIT */
/*
 * The names that the print fmt of a tracepoint's format gives to values of its fields.
 */
#ifndef PERFABI_PRINT_FMT_H
#define PERFABI_PRINT_FMT_H

#include "abi/layout.h"

/*
 * Finds each __print_symbolic() and __print_flags() of a print fmt whose first argument is a field
 * as it is, or masked, and makes its names those of the field's number in `fields`. What cannot be
 * evaluated (a constant that the kernel did not resolve, a field that is computed with), and what
 * two lists name, is left a number. `text` ends in NUL, is written to, and must live as long as the
 * fields; so must the arena. 0 or -ENOMEM.
 */
int print_fmt_names(struct arena *arena, char *text, struct layout_node *fields, size_t count);

#endif
