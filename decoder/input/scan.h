/* SPDX-License-Identifier: MIT */
/*
 * Where records begin and end. A size is believed when it can be; where it cannot, the next record
 * that can be trusted is looked for.
 */
#ifndef PERFABI_SCAN_H
#define PERFABI_SCAN_H

#include "stream/lines.h"

enum scan_stop {
	SCAN_MORE,     /* the next record is not whole yet */
	SCAN_SPECIAL,  /* the next one is for somebody else */
	SCAN_SIZE,     /* its size is less than its header */
	SCAN_PAST_END, /* its size is more than there is */
	SCAN_END,      /* nothing is left */
};

/*
 * The length of the whole records that `bytes` begins with, none of a type that `special` (may be
 * NULL) has, and in *stop what comes then. `at_end`: nothing follows these bytes.
 */
size_t scan_records(const struct events *events, const bool *special, const unsigned char *bytes,
		    size_t size, bool at_end, enum scan_stop *stop);

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
size_t scan_resync(struct lines *lines, const unsigned char *bytes, size_t from, size_t size,
		   bool at_end, bool *found);

#endif
