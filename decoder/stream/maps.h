/* SPDX-License-Identifier: MIT */
/*
 * What is mapped where in an address space. Copies share what they have in common, so that a fork
 * costs nothing.
 */
#ifndef PERFABI_MAPS_H
#define PERFABI_MAPS_H

#include <stdint.h>

/* A file, or what else has a name. */
struct object {
	const char *name;
	const char *build_id; /* hexadecimal; "": not known */
	uint64_t number;      /* from 0 on, in the order of their coming */
};

struct map {
	uint64_t start, end; /* up to, but not, `end` */
	uint64_t pgoff;
	const struct object *object;
	/* Of the tree. */
	uint64_t priority;
	unsigned refs;
	struct map *left, *right;
};

/* NULL is an empty space. Another reference to the same, to be dropped. */
struct map *maps_share(struct map *maps);
void maps_drop(struct map *maps);

/*
 * Maps an object over whatever was there. 0, or -ENOMEM with parts of the space lost. `priority` is
 * a random number.
 */
int maps_add(struct map **maps, uint64_t start, uint64_t end, uint64_t pgoff,
	     const struct object *object, uint64_t priority);

/* Takes away what begins at `start`. 0 or -ENOMEM. */
int maps_remove(struct map **maps, uint64_t start);

/* What is at the address; NULL: nothing. */
const struct map *maps_find(const struct map *maps, uint64_t address);

#endif
