/* SPDX-License-Identifier: MIT */
/*
 * A treap by the start of the maps, whose nodes are copied when they change and another space has
 * them too. It is about as deep as twice the logarithm of its size: priorities are random.
 */
#include "stream/maps.h"

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
static struct map *unshare(struct map *node)
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

/* Takes a tree apart: what begins before `key`, and the rest. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tree */
static int take_apart(struct map *tree, uint64_t key, struct map **before, struct map **rest)
{
	int err;

	*before = *rest = NULL;
	if (!tree)
		return 0;
	tree = unshare(tree);
	if (!tree)
		return -ENOMEM;
	if (tree->start < key) {
		err = take_apart(tree->right, key, &tree->right, rest);
		*before = tree;
	} else {
		err = take_apart(tree->left, key, before, &tree->left);
		*rest = tree;
	}
	return err;
}

/* One tree of two, all of the first before all of the second. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tree */
static struct map *merge(struct map *first, struct map *second, int *err)
{
	struct map *top;

	if (!first || !second)
		return first ? first : second;
	top = unshare(first->priority > second->priority ? first : second);
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

static struct map *new_map(uint64_t start, uint64_t end, uint64_t pgoff,
			   const struct object *object, uint64_t priority)
{
	struct map *map = malloc(sizeof(*map));

	if (map)
		*map = (struct map){start, end, pgoff, object, priority, 1, NULL, NULL};
	return map;
}

/* Cuts off what reaches past `end`; *tail is what is behind `from` of it. 0 or -ENOMEM. */
static int cut_last(struct map **tree, uint64_t end, uint64_t from, struct map **tail)
{
	for (; *tree; tree = &(*tree)->right) {
		struct map *node = *tree = unshare(*tree);

		if (!node)
			return -ENOMEM;
		if (node->right)
			continue;
		if (node->end > from) {
			*tail = new_map(from, node->end, node->pgoff + (from - node->start),
					node->object,
					(node->priority ^ from) * UINT64_C(0x9e3779b97f4a7c15));
			if (!*tail)
				return -ENOMEM;
		}
		if (node->end > end)
			node->end = end;
		break;
	}
	return 0;
}

int maps_add(struct map **maps, uint64_t start, uint64_t end, uint64_t pgoff,
	     const struct object *object, uint64_t priority)
{
	struct map *before, *over, *rest, *tail = NULL, *map;
	int err, failed;

	if (end <= start)
		return 0;
	map = new_map(start, end, pgoff, object, priority);
	err = map ? take_apart(*maps, start, &before, &over) : -ENOMEM;
	if (!map)
		return err;
	failed = cut_last(&before, start, end, &tail);
	err = err ? err : failed;
	failed = take_apart(over, end, &over, &rest);
	err = err ? err : failed;
	failed = tail ? 0 : cut_last(&over, UINT64_MAX, end, &tail);
	err = err ? err : failed;
	maps_drop(over);
	*maps = merge(merge(before, map, &err), merge(tail, rest, &err), &err);
	return err;
}

int maps_remove(struct map **maps, uint64_t start)
{
	struct map *before, *over, *rest;
	int err = take_apart(*maps, start, &before, &over), failed;

	failed = take_apart(over, start + 1, &over, &rest);
	maps_drop(over);
	err = err ? err : failed;
	*maps = merge(before, rest, &err);
	return err;
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
