/* SPDX-License-Identifier: MIT */
/*
 * Names of functions, from ELF files and /proc/kallsyms, for perfabi_options.symbol. Without libelf
 * there are none of files.
 */
#ifndef PERFABI_SYMBOLS_H
#define PERFABI_SYMBOLS_H

#include <stdint.h>
#include <stddef.h>

struct symbols;

/* NULL: no memory. It lives as long as the program. */
struct symbols *symbols_new(void);

/*
 * The function at an offset of a file, whose build ID has to be that ("": any), or at an address
 * of the kernel that runs, if its build ID is that. As perfabi_options.symbol.
 */
int symbols_find(void *symbols, const char *object, const char *build_id, uint64_t offset,
		 char *name, size_t size);

#endif
