/* SPDX-License-Identifier: MIT */
/*
 * A header that cannot be believed, and the bytes from there to the next record that can be
 * trusted: one diagnostic, however many windows they fill.
 */
#ifndef PERFABI_DAMAGE_H
#define PERFABI_DAMAGE_H

#include <stddef.h>

#include "abi/word.h"
#include "stream/lines.h"

enum scan_stop {
	SCAN_MORE,     /* the next record is not whole yet */
	SCAN_SPECIAL,  /* the next one is for somebody else */
	SCAN_SIZE,     /* its size is less than its header */
	SCAN_TYPE,     /* its type is none that kernel or perf can have */
	SCAN_MISFIT,   /* it does not fit its layout, and no record begins behind it */
	SCAN_PAST_END, /* its size is more than there is */
	SCAN_END,      /* nothing is left */
};

/*
 * The length of the whole records that `bytes` begins with, none of a type that has a number other
 * than 0 in `special` (TYPES of them), in last[0] where the last of them begins, in last[1] the one
 * before it, or 0, and in *stop what comes then; never SCAN_MISFIT. `at_end`: nothing follows these
 * bytes.
 */
size_t scan_records(enum byte_order order, const uint8_t *special, const unsigned char *bytes,
		    size_t size, bool at_end, size_t last[2], enum scan_stop *stop);

/* Bytes that are enough to tell whether a record can be trusted: it, and a header behind it. */
enum { SCAN_ENOUGH = 65536 + 8 };

/* The size of a record of simpleperf's that misc, too, is a part of; 0 of others. */
uint64_t size_is_large(enum byte_order order, const unsigned char *bytes);

/*
 * Whether these 8 bytes are a header as kernel and perf write them, of whatever type; a known
 * record of perf's can have any size.
 */
bool header_is_likely(const struct events *events, const unsigned char *bytes);

struct damage {
	bool active;
	bool goes_on;       /* what was passed over before is said */
	bool lacks_bytes;   /* any number may be missing: what follows can be anywhere */
	struct place place; /* of its first byte */
	uint64_t skipped;   /* bytes so far */
	enum scan_stop stop;
	size_t left;     /* bytes that were there when it was found, ... */
	unsigned length; /* ... and the size that the header has, */
	uint32_t type;   /* ... and the type */
};

/* The first whole record of a buffer that went around has to be looked for: of stop `SCAN_MORE`. */
void damage_begin(struct damage *damage, const struct events *events, const unsigned char *bytes,
		  size_t size, enum scan_stop stop, struct place place);

/*
 * Passes over bytes up to a record that can be trusted, and says so when it is found, or when
 * nothing follows (`at_end`). Returns how many bytes of these `size` are behind it; where that is
 * not all of them and the damage is still active, more bytes are needed to tell.
 */
size_t damage_pass(struct damage *damage, struct lines *lines, const unsigned char *bytes,
		   size_t size, bool at_end);

/* Says what active damage was, where what has been passed over turns out to be all there is. */
void damage_end(struct damage *damage, struct lines *lines);

/*
 * Says what has been passed over so far, if anything; what is passed over next is a diagnostic of
 * its own, which begins at `place`.
 */
void damage_interrupt(struct damage *damage, struct lines *lines, struct place place);

#endif
