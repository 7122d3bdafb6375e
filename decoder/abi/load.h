/* SPDX-License-Identifier: MIT */
/*
 * Between load.c, which reads the tables of cases/abi, and layout_load.c, which reads the layouts
 * that go by them. Functions return 0, or a negative errno with the error filled.
 */
#ifndef PERFABI_ABI_LOAD_H
#define PERFABI_ABI_LOAD_H

#include "abi/layout.h"
#include "text/doc.h"

/* Where a family of constants is, and one of its values. */
#define AT_FAMILY(family) AT_KEY(AT_KEY(AT_ROOT((family)->source), "constants"), (family)->name)
#define AT_VALUE(family, index) AT_INDEX(AT_KEY(AT_FAMILY(family), "values"), index)

/* As struct doc_row's `read`, with struct abi for the context, as everywhere here: a family of
 * constants by its name, into a const struct abi_family *. */
int read_family(struct doc *d, const json_t *json, void *at, const struct where *w);

/* The rows of a file of cases/abi; and of each kind of field of a layout, NULL behind the last. */
extern const struct doc_type abi_file_type;
const struct doc_type *abi_field_type(size_t i);

/* Reads the words of bit fields and all layouts into the tables, which are else complete. */
int layouts_load(struct doc *d);

#endif
