/* SPDX-License-Identifier: MIT */
/*
 * What a decoder comes upon, in order, for who takes it one by one instead of as lines: whole
 * records, and what is wrong.
 */
#ifndef PERFABI_FINDS_H
#define PERFABI_FINDS_H

#include "stream/lines.h"

struct find {
	const unsigned char *bytes; /* of whole records, one at least; good until the next step */
	size_t size;
	struct place place;
	struct diagnostic *wrong; /* instead; its text is behind it */
};

struct finds {
	struct find *list;
	size_t first, count, capacity; /* list[first] to list[count - 1] wait */
};

/* Each 0 or -ENOMEM; the diagnostic is copied. Free with finds_free(). */
int finds_add_records(struct finds *finds, const unsigned char *bytes, size_t size,
		      struct place place);
int finds_add_wrong(struct finds *finds, const struct diagnostic *wrong);
void finds_free(struct finds *finds);

/* The oldest that waits; NULL: none does. */
struct find *finds_oldest(struct finds *finds);

/* Forgets the oldest. What it points to is good no longer. */
void finds_drop(struct finds *finds);

#endif
