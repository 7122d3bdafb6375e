/* SPDX-License-Identifier: MIT */
/*
 * What one caller meets with a call: what the kernel says, which check it is, by what changes the
 * call opens, what an event that opens does all the same not do, and what comes of the calls behind
 * it.
 */
#ifndef PERFABI_WHY_INQUIRY_H
#define PERFABI_WHY_INQUIRY_H

#include "why/asking.h"

/*
 * Asks as that caller: in a process of its own, where it is tried. A new reference to an object, of
 * which docs/why.md tells; NULL with `why` filled.
 */
json_t *inquire(const struct inquiry *inquiry, enum identity as, char *why, size_t size);

#endif
