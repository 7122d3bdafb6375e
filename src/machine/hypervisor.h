/* SPDX-License-Identifier: MIT */
/*
 * Which hypervisor this machine runs under, by what it leaves where a guest can read it.
 */
#ifndef PERFABI_HYPERVISOR_H
#define PERFABI_HYPERVISOR_H

#include <stdbool.h>
#include <stddef.h>

/* Its name; empty: none is seen. What only root may read tells others nothing. */
void hypervisor_read(char *name, size_t size);

/* Whether CPUID says that QEMU emulates this processor; only x86 can tell. */
bool is_emulated(void);

#endif
