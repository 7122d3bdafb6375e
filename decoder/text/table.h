/* SPDX-License-Identifier: MIT */
/*
 * Things by keys of bytes: 64 bits of a hash, whose seed nobody outside knows, stand for a key.
 */
#ifndef PERFABI_TABLE_H
#define PERFABI_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "text/arena.h"

struct table {
	struct table_slot {
		uint64_t hash;
		void *value; /* NULL: free */
	} * slots;
	size_t count, capacity;
	uint64_t seed;
};

/*
 * What the kernel gives every process to begin with, and nobody who made a recording knows: keys
 * that collide cannot be chosen.
 */
uint64_t table_seed(void);

/* What the key has; NULL: nothing. */
void *table_find(const struct table *table, const void *key, size_t size);

/* Gives it that value, which is not NULL. 0 or -ENOMEM. */
int table_put(struct table *table, const void *key, size_t size, void *value);

/*
 * What the key has, made of `size` zeros in the arena if there was nothing yet. NULL: no memory.
 * The slots are to be freed with free().
 */
void *table_entry(struct table *table, struct arena *arena, const void *key, size_t key_size,
		  size_t size);

/* One copy of each text, with a NUL behind it. NULL: no memory. */
const char *table_text(struct table *table, struct arena *arena, const void *text, size_t size);

#endif
