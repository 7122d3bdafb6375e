/* SPDX-License-Identifier: MIT */
/*
 * Records that wait for older ones; tools/perf/util/ordered-events.c.
 */
#include "stream/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text/arena.h"

/* What a record takes beside its bytes: a place in a list that may have grown to twice its size. */
enum { OVERHEAD = 2 * sizeof(struct waiting) + 32 };

void sort_free(struct sorter *sorter)
{
	for (size_t i = 0; i < sorter->count; i++)
		free(sorter->list[i].bytes);
	free(sorter->list);
	*sorter = (struct sorter){0};
}

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Puts those up to that time, the oldest first, or the oldest `most` of them. */
static int put_until(struct sorter *sorter, uint64_t time, size_t most)
{
	size_t n = 0, left;
	int err = 0;

	if (!sorter->count)
		return 0;
	qsort(sorter->list, sorter->count, sizeof(*sorter->list), by_time);
	for (; n < sorter->count && n < most && sorter->list[n].time <= time && !err; n++) {
		struct waiting *waiting = &sorter->list[n];

		err = sorter->put(sorter->to, waiting->bytes, waiting->size, waiting->place);
		sorter->written = waiting->time;
		sorter->bytes -= waiting->size + OVERHEAD;
		free(waiting->bytes);
	}
	left = sorter->count - n;
	memmove(sorter->list, sorter->list + n, left * sizeof(*sorter->list));
	sorter->count = left;
	return err;
}

int sort_add(struct sorter *sorter, uint64_t time, const unsigned char *bytes, size_t size,
	     struct place place)
{
	unsigned char *copy;

	if (time < sorter->written) {
		if (!sorter->late++)
			sorter->first_late = place;
		return sorter->put(sorter->to, bytes, size, place);
	}
	if (list_grow(&sorter->list, sorter->count, &sorter->capacity, sizeof(*sorter->list)))
		return -ENOMEM;
	copy = malloc(size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, size);
	sorter->list[sorter->count++] = (struct waiting){time, sorter->order++, copy, size, place};
	sorter->bytes += size + OVERHEAD;
	if (time > sorter->newest)
		sorter->newest = time;
	return sorter->bytes > sorter->most ? put_until(sorter, UINT64_MAX, sorter->count / 2 + 1)
					    : 0;
}

int sort_round(struct sorter *sorter)
{
	int err = put_until(sorter, sorter->round, SIZE_MAX);

	sorter->round = sorter->newest;
	return err;
}

int sort_end(struct sorter *sorter)
{
	return put_until(sorter, UINT64_MAX, SIZE_MAX);
}
