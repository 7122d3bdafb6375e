/* SPDX-License-Identifier: MIT */
/*
 * A treap by the start of the maps, whose nodes are copied when they change and another space has
 * them too. It is about as deep as twice the logarithm of its size: priorities are random.
 */
#include "stream/join.h"

#include <errno.h>
#include <stdlib.h>

struct map *maps_share(struct map *maps)
{
	if (maps)
		maps->refs++;
	return maps;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tree */
void maps_drop(struct map *maps)
{
	if (!maps || --maps->refs)
		return;
	maps_drop(maps->left);
	maps_drop(maps->right);
	free(maps);
}

/* The node, or a copy where others have it, which takes over the reference. NULL: no memory. */
static struct map *own_copy(struct map *node)
{
	struct map *copy;

	if (node->refs == 1)
		return node;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return NULL;
	*copy = *node;
	copy->refs = 1;
	maps_share(copy->left);
	maps_share(copy->right);
	node->refs--;
	return copy;
}

static struct map *new_map(uint64_t start, uint64_t end, uint64_t pgoff,
			   const struct object *object, uint64_t priority)
{
	struct map *map = malloc(sizeof(*map));

	if (map)
		*map = (struct map){start, end, pgoff, object, priority, 1, NULL, NULL};
	return map;
}

/* One tree of two, all of the first before all of the second. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tree */
static struct map *merge(struct map *first, struct map *second, int *err)
{
	struct map *top;

	if (!first || !second)
		return first ? first : second;
	top = own_copy(first->priority > second->priority ? first : second);
	if (!top) {
		*err = -ENOMEM;
		return first;
	}
	if (first->priority > second->priority)
		top->right = merge(top->right, second, err);
	else
		top->left = merge(first, top->left, err);
	return top;
}

/* Takes a tree apart: what is before `key`, and the rest. A map that has both becomes two. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tree */
static int take_apart(struct map *tree, uint64_t key, struct map **before, struct map **rest)
{
	struct map *behind;
	int err;

	*before = *rest = NULL;
	if (!tree)
		return 0;
	tree = own_copy(tree);
	if (!tree)
		return -ENOMEM;
	if (tree->start >= key) {
		*rest = tree;
		return take_apart(tree->left, key, before, &tree->left);
	}
	*before = tree;
	err = take_apart(tree->right, key, &tree->right, rest);
	if (err || tree->end <= key)
		return err;
	behind = new_map(key, tree->end, tree->pgoff + (key - tree->start), tree->object,
			 (tree->priority ^ key) * UINT64_C(0x9e3779b97f4a7c15));
	if (!behind)
		return -ENOMEM;
	tree->end = key;
	*rest = merge(behind, *rest, &err);
	return err;
}

/* Puts a map, or nothing, in the place of what is from `start` to `end`. 0 or -ENOMEM. */
static int replace(struct map **maps, uint64_t start, uint64_t end, struct map *map)
{
	struct map *before, *over, *rest;
	int err = take_apart(*maps, start, &before, &over);
	int failed = take_apart(over, end, &over, &rest);

	maps_drop(over);
	err = err ? err : failed;
	*maps = merge(merge(before, map, &err), rest, &err);
	return err;
}

int maps_add(struct map **maps, uint64_t start, uint64_t end, uint64_t pgoff,
	     const struct object *object, uint64_t priority)
{
	struct map *map;

	if (end <= start)
		return 0;
	map = new_map(start, end, pgoff, object, priority);
	return map ? replace(maps, start, end, map) : -ENOMEM;
}

int maps_remove(struct map **maps, uint64_t start)
{
	const struct map *map = maps_find(*maps, start);

	return map && map->start == start ? replace(maps, start, map->end, NULL) : 0;
}

const struct map *maps_find(const struct map *maps, uint64_t address)
{
	const struct map *found = NULL;

	while (maps) {
		if (maps->start <= address)
			found = maps;
		maps = maps->start <= address ? maps->right : maps->left;
	}
	return found && address < found->end ? found : NULL;
}
