/* SPDX-License-Identifier: MIT */
/*
 * Whether this processor is a program, which does not do all that a processor does.
 */
#ifndef PERFABI_EMULATED_H
#define PERFABI_EMULATED_H

#include <stdbool.h>

/* True if it says so: QEMU without KVM does on x86, by CPUID; elsewhere nothing tells. */
bool is_emulated(void);

#endif
