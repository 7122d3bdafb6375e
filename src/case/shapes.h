/* SPDX-License-Identifier: MIT */
/*
 * What is shown of records, of read(2) and of the metadata page, as cases/abi has it: so that a
 * pattern's typo is said.
 */
#ifndef PERFABI_SHAPES_H
#define PERFABI_SHAPES_H

#include "call/tables.h"

/* Fills records, read and page of the tables. 0, or a negative errno with `e` filled. */
int shapes_load(struct tables *tables, struct error *e);
void shapes_free(struct tables *tables);

#endif
