/* SPDX-License-Identifier: MIT */
/*
 * The metadata page in front of a ring buffer; perf_event_open(2), MMAP layout.
 */
#ifndef PERFABI_MMAP_PAGE_H
#define PERFABI_MMAP_PAGE_H

#include "abi/abi.h"

/* Where a member of it is, in bytes; -EINVAL if cases/abi has none of that name. */
int mmap_page_offset(const struct abi *abi, const char *name);

#endif
