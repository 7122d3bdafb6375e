/* SPDX-License-Identifier: MIT */
/*
 * Memory that is freed all at once: what a program is made of. And lists that grow.
 */
#ifndef PERFABI_ARENA_H
#define PERFABI_ARENA_H

#include <jansson.h>
#include <stddef.h>

struct arena {
	struct arena_piece *last;
	json_t *kept; /* a list, or NULL */
};

/* Zeroed and aligned for anything; NULL without memory. It lives as long as the arena. */
void *arena_alloc(struct arena *arena, size_t size);

/* The same for `count` things of `size` bytes. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* Two texts as one; NULL without memory. */
char *arena_join(struct arena *arena, const char *first, const char *second);

/* Takes the reference, and gives it back when the arena is freed. The value, or NULL if it is NULL
 * or there is no memory. */
json_t *arena_keep(struct arena *arena, json_t *json);

void arena_free(struct arena *arena);

/*
 * Room for one more behind `count` things of `size` bytes in a list of malloc(3), which *list
 * points to. 0, or -ENOMEM with all as it was.
 */
int list_grow(void *list, size_t count, size_t *capacity, size_t size);

#endif
