/* SPDX-License-Identifier: MIT */
/*
 * An attr as perf(1) prints it with -vv: a line a field, between two lines of dashes, and the call
 * behind it.
 */
#ifndef PERFABI_WHY_ATTR_BLOCK_H
#define PERFABI_WHY_ATTR_BLOCK_H

#include "abi/abi.h"
#include "text/source.h"

/* Whether the text has such a block. */
bool attr_block_is_in(const char *text);

/*
 * The call of the block that failed, or of the last one: a new reference to `open` as a case has
 * it. *told: the errno that perf had of it as a number, or 0. NULL with `e` filled.
 */
json_t *attr_block_open(const char *text, const struct abi *abi, int *told, const struct where *w,
			struct error *e);

#endif
