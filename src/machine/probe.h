/* SPDX-License-Identifier: MIT */
/*
 * Opens by which perfabi learns what a machine has; none of them is under test.
 */
#ifndef PERFABI_PROBE_H
#define PERFABI_PROBE_H

#include "abi/abi.h"

/*
 * The attr that a text in JSON describes, laid out in `attr`, of abi->attr_size bytes, and opened
 * on the caller's task on any cpu. A file descriptor that is the caller's, or a negative errno.
 */
int probe_open(const struct abi *abi, const char *json_text, unsigned char *attr);

/* The same, closed again: 0, or the errno that it gave. */
int probe_errno(const struct abi *abi, const char *json_text, unsigned char *attr);

#endif
