/* SPDX-License-Identifier: MIT */
/*
 * Reports of several machines as one page of HTML: cases by machines.
 */
#ifndef PERFABI_PAGE_H
#define PERFABI_PAGE_H

#include <stdio.h>

#include "page/table.h"

/*
 * Reads the report in the file `path` (- is standard input) into the table. 0 or a negative errno
 * with `e` filled.
 */
int page_read(struct table *table, const char *path, struct error *e);

/*
 * Writes the page of a table that was settled (table_settle()). The same table makes the same
 * bytes. `title` may be NULL. Errors stay on the stream.
 */
void page_write(FILE *f, const struct table *table, const char *title);

#endif
