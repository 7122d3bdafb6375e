/* SPDX-License-Identifier: MIT */
/*
 * Open addressing, grown by doubling.
 */
#include "text/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

uint64_t table_seed(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);
	uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);

	if (random)
		memcpy(&seed, random, sizeof(seed));
	return seed | 1;
}

static uint64_t mix(uint64_t hash)
{
	hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
	hash = (hash ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static uint64_t hash_of(const struct table *table, const void *key, size_t size)
{
	const unsigned char *at = key;
	uint64_t hash = mix(table->seed ^ size), word;

	for (; size; at += size < 8 ? size : 8, size -= size < 8 ? size : 8) {
		word = 0;
		memcpy(&word, at, size < 8 ? size : 8);
		hash = mix(hash ^ word);
	}
	return hash;
}

/* Where the hash is or belongs; the table is not full. */
static struct table_slot *find(const struct table *table, uint64_t hash)
{
	size_t i = (size_t)hash & (table->capacity - 1);

	while (table->slots[i].value && table->slots[i].hash != hash)
		i = (i + 1) & (table->capacity - 1);
	return &table->slots[i];
}

void *table_find(const struct table *table, const void *key, size_t size)
{
	return table->capacity ? find(table, hash_of(table, key, size))->value : NULL;
}

/* The key's slot, which has its hash, in a table with room for one more. NULL: no memory. */
static struct table_slot *slot_of(struct table *table, const void *key, size_t size)
{
	struct table_slot *slot;
	uint64_t hash;

	if (2 * (table->count + 1) > table->capacity) {
		struct table grown = {.count = table->count,
				      .capacity = table->capacity ? 2 * table->capacity : 64,
				      .seed = table_seed()};

		grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
		if (!grown.slots)
			return NULL;
		for (size_t i = 0; i < table->capacity; i++)
			if (table->slots[i].value)
				*find(&grown, table->slots[i].hash) = table->slots[i];
		free(table->slots);
		*table = grown;
	}
	hash = hash_of(table, key, size);
	slot = find(table, hash);
	slot->hash = hash;
	return slot;
}

int table_put(struct table *table, const void *key, size_t size, void *value)
{
	struct table_slot *slot = slot_of(table, key, size);

	if (!slot)
		return -ENOMEM;
	table->count += !slot->value;
	slot->value = value;
	return 0;
}

void *table_entry(struct table *table, struct arena *arena, const void *key, size_t key_size,
		  size_t size)
{
	struct table_slot *slot = slot_of(table, key, key_size);

	if (slot && !slot->value) {
		slot->value = arena_alloc(arena, size);
		table->count += slot->value != NULL;
	}
	return slot ? slot->value : NULL;
}

const char *table_text(struct table *table, struct arena *arena, const void *text, size_t size)
{
	char *kept = table_entry(table, arena, text, size, size + 1);

	return kept ? memcpy(kept, text, size) : NULL;
}
