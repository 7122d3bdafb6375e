/* SPDX-License-Identifier: MIT */
/*
 * Where records begin and end, as their headers say.
 */
#ifndef PERFABI_SCAN_H
#define PERFABI_SCAN_H

#include <stddef.h>

#include "abi/word.h"

/* Record types that there can be: the kernel's are below 64, perf's above; none is 0. */
enum { TYPES = 256 };

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
 * The length of the whole records that `bytes` begins with, none of a type that `special` (TYPES of
 * them) has, in last[0] where the last of them begins, in last[1] the one before it, or 0, and in
 * *stop what comes then; never SCAN_MISFIT. `at_end`: nothing follows these bytes.
 */
size_t scan_records(enum byte_order order, const bool *special, const unsigned char *bytes,
		    size_t size, bool at_end, size_t last[2], enum scan_stop *stop);

#endif
