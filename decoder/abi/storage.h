/* SPDX-License-Identifier: MIT */
/*
 * Memory that lives as long as an ABI.
 */
#ifndef PERFABI_STORAGE_H
#define PERFABI_STORAGE_H

#include <jansson.h>
#include <stddef.h>

#include "text/error.h"

/* All that is allocated for one ABI, so that there is one list to walk in the end. */
struct storage {
	json_t *files; /* by the name of their source */
	void **blocks;
	size_t count, capacity;
};

/* NULL when there is no memory. */
struct storage *storage_new(void);
void storage_free(struct storage *storage);

/* Zeroed memory for `count` things, freed with the rest; NULL when there is none. */
void *storage_take(struct storage *storage, size_t count, size_t size);

/* Says that there was none, for what stands at `w` (may be NULL). Returns -ENOMEM. */
int storage_no_memory(struct error *e, const struct where *w);

#endif
