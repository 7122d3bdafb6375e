/* SPDX-License-Identifier: MIT */
/*
 * A chain of pieces, each as large as was asked for: programs are small and made of few.
 */
#include "text/arena.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_piece {
	struct arena_piece *before;
	max_align_t memory[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_piece *piece = NULL;

	if (size <= SIZE_MAX - sizeof(*piece))
		piece = calloc(1, sizeof(*piece) + size);
	if (!piece)
		return NULL;
	piece->before = arena->last;
	arena->last = piece;
	return piece->memory;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	return size && count > SIZE_MAX / size ? NULL : arena_alloc(arena, count * size);
}

char *arena_join(struct arena *arena, const char *first, const char *second)
{
	size_t n = strlen(first), m = strlen(second);
	char *text = arena_alloc(arena, n + m + 1);

	if (!text)
		return NULL;
	memcpy(text, first, n);
	memcpy(text + n, second, m);
	return text;
}

json_t *arena_keep(struct arena *arena, json_t *json)
{
	if (!arena->kept)
		arena->kept = json_array();
	return json && !json_array_append_new(arena->kept, json) ? json : NULL;
}

void arena_free(struct arena *arena)
{
	for (struct arena_piece *piece = arena->last, *before; piece; piece = before) {
		before = piece->before;
		free(piece);
	}
	json_decref(arena->kept);
	*arena = (struct arena){0};
}

int list_grow(void *list, size_t count, size_t *capacity, size_t size)
{
	size_t wanted = *capacity ? 2 * *capacity : 16;
	void *old, *grown;

	if (count < *capacity)
		return 0;
	memcpy(&old, list, sizeof(old));
	grown = realloc(old, wanted * size);
	if (!grown)
		return -ENOMEM;
	memcpy(list, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}
