/* SPDX-License-Identifier: MIT */
/*
 * Where records begin and end, as their headers say.
 */
#ifndef PERFABI_SCAN_H
#define PERFABI_SCAN_H

#include <stddef.h>

#include "abi/word.h"

/* Record types that can be known. */
enum { TYPES = 256 };

enum scan_stop {
	SCAN_MORE,     /* the next record is not whole yet */
	SCAN_SPECIAL,  /* the next one is for somebody else */
	SCAN_SIZE,     /* its size is less than its header */
	SCAN_PAST_END, /* its size is more than there is */
	SCAN_END,      /* nothing is left */
};

/*
 * The length of the whole records that `bytes` begins with, none of a type that `special` (may be
 * NULL, else TYPES of them) has, and in *stop what comes then. `at_end`: nothing follows these
 * bytes.
 */
size_t scan_records(enum byte_order order, const bool *special, const unsigned char *bytes,
		    size_t size, bool at_end, enum scan_stop *stop);

#endif
