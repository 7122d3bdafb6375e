/* SPDX-License-Identifier: MIT */
/*
 * Records in the order of their time, as perf sorts them: what came before FINISHED_ROUND is older
 * than what comes behind the next one. Memory is bounded.
 */
#ifndef PERFABI_SORT_H
#define PERFABI_SORT_H

#include "stream/lines.h"

enum { SORT_BYTES = 256 * 1024 * 1024 }; /* that wait at most */

/* All zero but for `put` and `to` to begin with. */
struct sorter {
	struct waiting {
		uint64_t time, order;
		unsigned char *bytes;
		size_t size;
		struct place place;
	} * list;
	size_t count, capacity, bytes;
	uint64_t order, newest, round,
		written; /* the last round's newest; the last that went out */
	uint64_t late;   /* records that came when newer ones had gone out */
	/* Takes a record. 0 or a negative errno, which stays. */
	int (*put)(void *to, const unsigned char *bytes, size_t size, struct place place);
	void *to;
};

void sort_free(struct sorter *sorter);

/* A record of that time; it is copied. 0, -ENOMEM, or what `put` returned. */
int sort_add(struct sorter *sorter, uint64_t time, const unsigned char *bytes, size_t size,
	     struct place place);

/* At FINISHED_ROUND. The same. */
int sort_round(struct sorter *sorter);

/* Puts all that waits. The same. */
int sort_end(struct sorter *sorter);

#endif
