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
 * One call: a new reference to `open` as a case has it, the descriptor that it gave or -1, the
 * errno or 0. Whether to go on.
 */
typedef bool attr_block_call(void *context, json_t *open, int fd, int err);

/*
 * Calls `each` with the calls of all blocks, in their order; with one that was not made of a block
 * that has none. 0, or -EINVAL with `e` filled.
 */
int attr_block_calls(const char *text, const struct abi *abi, attr_block_call *each, void *context,
		     const struct where *w, struct error *e);

#endif
