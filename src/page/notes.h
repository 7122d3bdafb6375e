/* SPDX-License-Identifier: MIT */
/*
 * What tells columns of one machine and kernel apart.
 */
#ifndef PERFABI_NOTES_H
#define PERFABI_NOTES_H

#include "page/table.h"

/*
 * Gives each column of a settled table that has the name, kernel and machine of another a "note" in
 * its `about`: the facts in which they differ.
 */
void notes_settle(struct table *table);

#endif
