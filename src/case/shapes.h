/* SPDX-License-Identifier: MIT */
/*
 * What is shown of records, of read(2) and of the metadata page, as cases/abi has it: so that a
 * pattern's typo is said.
 */
#ifndef PERFABI_SHAPES_H
#define PERFABI_SHAPES_H

#include "call/tables.h"
#include "text/arena.h"

/* Fills records, read and page of the tables, in memory of the arena. 0, or -ENOMEM with `e`. */
int shapes_load(struct tables *tables, struct arena *arena, struct error *e);

#endif
