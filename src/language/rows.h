/* SPDX-License-Identifier: MIT */
/*
 * `each`: the table of which a case is run once a row.
 */
#ifndef PERFABI_ROWS_H
#define PERFABI_ROWS_H

#include "abi/abi.h"

/*
 * The rows of an `each` as an object of name: value. `each` is {"PARAM": {ROW: VALUE}}, or in place
 * of the rows a list of scalars, "A..B", or "$abi.SET" for a row a name of the ABI: a family of
 * constants, attr.bits, attr.fields, attr.sizes or regs; or {"$pairs": {NAME: N, ...}} for a row
 * each two names: its value has a, b and sum. NULL with `e` filled.
 */
json_t *each_rows(const json_t *rows, const struct abi *abi, const struct abi_arch *arch,
		  const struct where *w, struct error *e);

#endif
