/* SPDX-License-Identifier: MIT */
/*
 * Versions of kernels, and which fixes are in them.
 */
#ifndef PERFABI_VERSION_OF_KERNEL_H
#define PERFABI_VERSION_OF_KERNEL_H

#include "abi/abi.h"

/* The fix of that name; NULL: there is none, and `near`, if not NULL, is offered every name. */
const struct abi_mend *abi_mend(const struct abi *abi, const char *name, struct nearest *near);

/* Whether a kernel of that version has it, unless who built it took it over from a later one. */
bool abi_mend_is_in(const struct abi_mend *mend, const char *version);

/* Compares kernel versions "6.18.44" number by number: <0, 0, >0; what is missing counts as 0. */
int abi_version_compare(const char *a, const char *b);

#endif
