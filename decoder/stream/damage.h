/* SPDX-License-Identifier: MIT */
/*
 * A header that cannot be believed, and the bytes from there to the next record that can be
 * trusted: one diagnostic, however many windows they fill.
 */
#ifndef PERFABI_DAMAGE_H
#define PERFABI_DAMAGE_H

#include "input/scan.h"
#include "stream/lines.h"

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
