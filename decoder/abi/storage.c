/* SPDX-License-Identifier: MIT */
/*
 * Blocks in a list.
 */
#include "abi/storage.h"

#include <stdlib.h>

struct storage *storage_new(void)
{
	struct storage *storage = calloc(1, sizeof(*storage));

	if (!storage)
		return NULL;
	storage->files = json_object();
	if (storage->files)
		return storage;
	free(storage);
	return NULL;
}

void storage_free(struct storage *storage)
{
	if (!storage)
		return;
	for (size_t i = 0; i < storage->count; i++)
		free(storage->blocks[i]);
	free(storage->blocks);
	json_decref(storage->files);
	free(storage);
}

void *storage_take(struct storage *storage, size_t count, size_t size)
{
	void *block;

	if (storage->count == storage->capacity) {
		size_t capacity = storage->capacity ? 2 * storage->capacity : 64;
		void **grown = realloc(storage->blocks, capacity * sizeof(*grown));

		if (!grown)
			return NULL;
		storage->blocks = grown;
		storage->capacity = capacity;
	}
	block = calloc(count ? count : 1, size);
	if (block)
		storage->blocks[storage->count++] = block;
	return block;
}

int storage_no_memory(struct error *e, const struct where *w)
{
	return error_no_memory(e, w, "memory for the ABI tables");
}
