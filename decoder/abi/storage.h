/* SPDX-License-Identifier: MIT */
/*
 * Memory that lives as long as an ABI.
 */
#ifndef PERFABI_STORAGE_H
#define PERFABI_STORAGE_H

#include <jansson.h>
#include <stddef.h>

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

#endif
