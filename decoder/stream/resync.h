/* SPDX-License-Identifier: MIT */
/*
 * Where the chain of records is broken: the next one that can be trusted.
 */
#ifndef PERFABI_RESYNC_H
#define PERFABI_RESYNC_H

#include "stream/lines.h"

/* Bytes that are enough to tell whether a record can be trusted: it, and a header behind it. */
enum { SCAN_ENOUGH = 65536 + 8 };

/*
 * The first of bytes `from`, `from` + 8, `from` + 16... at which a record stands that can be
 * trusted: a type that is known, a size that its plan accounts for to the last byte, and behind one
 * of perf's own another. *found says whether there is one. If not: the first of these places for
 * which more bytes are needed, or `size` if `at_end`.
 *
 * Trying costs as much as decoding does. A place is tried as long as lines->credit lasts, which
 * grows with the bytes that are passed over, so that time grows with the input and no faster.
 */
size_t resync(struct lines *lines, const unsigned char *bytes, size_t from, size_t size,
	      bool at_end, bool *found);

#endif
