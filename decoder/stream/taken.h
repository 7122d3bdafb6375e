/* SPDX-License-Identifier: MIT */
/*
 * A record that was taken from the input: where it stands, and what it is.
 */
#ifndef PERFABI_TAKEN_H
#define PERFABI_TAKEN_H

#include <stddef.h>
#include <stdint.h>

#include "plan/plan.h"

/* A place in the input: of the file, and in the stream that a compressed record began, or -1. */
struct place {
	uint64_t offset;
	int64_t within;
	unsigned part; /* of a recording that is a directory: the file data.N, plus 1 */
};

static inline struct place place_at(uint64_t offset)
{
	return (struct place){.offset = offset, .within = -1};
}

/* To what stands `n` bytes behind it. */
static inline void place_advance(struct place *place, size_t n)
{
	if (place->within >= 0)
		place->within += (int64_t)n;
	else
		place->offset += n;
}

enum { MISC_CPUMODE = 7 }; /* the bits of misc that are a number: PERF_RECORD_MISC_CPUMODE_MASK */

/* What becomes of a record. */
enum lines_taken {
	LINES_PASSED_BY, /* its type is not asked for */
	LINES_RAW,       /* nothing describes it */
	LINES_BY_PLAN,
};

struct lines_record {
	uint8_t taken;  /* enum lines_taken */
	uint16_t index; /* type_index() of the type */
	uint32_t type;
	uint16_t misc, size;
	int slot;                /* of its type; -1: it is not known */
	int event;               /* its index; negative: none, or it is not known */
	uint32_t kind;           /* those of one differ in nothing but their size; from 1 on */
	const struct plan *plan; /* or NULL */
	struct head *head;       /* or NULL */
};

#endif
