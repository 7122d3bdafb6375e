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
 * Whether these 8 bytes are a header as kernel and perf write them, of whatever type; a known
 * record of perf's can have any size.
 */
bool header_is_likely(const struct events *events, const unsigned char *bytes);

/* Where the next record is looked for. */
struct places {
	unsigned step; /* 8: only whole words are missing; 1: any number of bytes may be */
	unsigned past; /* how far the first byte is past a multiple of 8 from the damage's start */
};

/*
 * The first place from `from` on at which a record stands that can be trusted: a type that is
 * known, a size that its plan accounts for to the last byte, and, behind one of perf's own and at
 * no multiple of 8 from the damage's start, another. *found says whether there is one. If not: the
 * first place for which more bytes are needed, or `size` if `at_end`.
 *
 * Trying costs as much as decoding does. A place is tried as long as lines->credit lasts, which
 * grows with the bytes that are passed over, so that time grows with the input and no faster.
 */
size_t resync(struct lines *lines, const unsigned char *bytes, size_t from, size_t size,
	      bool at_end, struct places places, bool *found);

#endif
