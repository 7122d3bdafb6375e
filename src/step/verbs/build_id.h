/* SPDX-License-Identifier: MIT */
/*
 * The build id of this program, as MMAP2 records have it: what the linker wrote into its notes.
 */
#ifndef PERFABI_BUILD_ID_H
#define PERFABI_BUILD_ID_H

#include <stddef.h>

enum { BUILD_ID_TEXT = 2 * 20 + 1 };

/* In hexadecimal; empty where the linker wrote none. */
void build_id_text(char out[BUILD_ID_TEXT]);

#endif
