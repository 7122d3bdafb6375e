/* SPDX-License-Identifier: MIT */
/*
 * A queue, which is empty again before the decoder goes on.
 */
#include "stream/finds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct find *new_find(struct finds *finds)
{
	if (finds->first == finds->count)
		finds->first = finds->count = 0;
	if (finds->count == finds->capacity) {
		size_t capacity = finds->capacity ? 2 * finds->capacity : 16;
		struct find *grown = realloc(finds->list, capacity * sizeof(*grown));

		if (!grown)
			return NULL;
		finds->list = grown;
		finds->capacity = capacity;
	}
	return &finds->list[finds->count++];
}

int finds_add_records(struct finds *finds, const unsigned char *bytes, size_t size,
		      struct place place)
{
	struct find *find = new_find(finds);

	if (!find)
		return -ENOMEM;
	*find = (struct find){bytes, size, place, NULL};
	return 0;
}

int finds_add_wrong(struct finds *finds, const struct diagnostic *wrong)
{
	size_t n = strlen(wrong->message) + 1;
	struct diagnostic *copy = malloc(sizeof(*copy) + n);
	struct find *find = copy ? new_find(finds) : NULL;

	if (!find) {
		free(copy);
		return -ENOMEM;
	}
	*copy = *wrong;
	copy->message = memcpy(copy + 1, wrong->message, n);
	*find = (struct find){.place = wrong->place, .wrong = copy};
	return 0;
}

struct find *finds_oldest(struct finds *finds)
{
	return finds->first < finds->count ? &finds->list[finds->first] : NULL;
}

void finds_drop(struct finds *finds)
{
	free(finds->list[finds->first++].wrong);
}

void finds_free(struct finds *finds)
{
	while (finds_oldest(finds))
		finds_drop(finds);
	free(finds->list);
	*finds = (struct finds){0};
}
