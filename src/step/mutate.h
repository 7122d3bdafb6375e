/* SPDX-License-Identifier: MIT */
/*
 * Expectations made wrong, one part at a time.
 */
#ifndef PERFABI_MUTATE_H
#define PERFABI_MUTATE_H

#include "step/program.h"

/* What a part is of. */
enum part {
	PART_PATTERN,
	PART_OUTCOME,
	PART_ERRNO,
	PART_GATE_BEFORE,
	PART_GATE_AFTER,
	PART_ATTR,
	PARTS,
	NO_PART = PARTS
};
extern const char *const part_names[PARTS];

/*
 * Finds the part of that number, from 1, among what the steps expect here; with `edit`, makes it
 * wrong, in place. NO_PART: there are fewer.
 */
enum part steps_part(struct program *program, const struct who *who, struct environment *env,
		     const struct tables *tables, unsigned number, bool edit);

#endif
