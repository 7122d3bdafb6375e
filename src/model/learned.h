/* SPDX-License-Identifier: MIT */
/*
 * What is learned of a kernel by opening events on it: which bits it knows, how many breakpoints
 * there are, what a later version or a distribution has changed. cases/model.json says by which
 * opens.
 */
#ifndef PERFABI_MODEL_LEARNED_H
#define PERFABI_MODEL_LEARNED_H

#include "machine/environment.h"

enum { LEARNED_MAX = 48 };

struct lesson {
	const char *name, *about;
	const json_t *json;
	bool is_known;
	uint64_t value;
};

struct learned {
	struct lesson list[LEARNED_MAX];
	size_t count;
};

/* Reads `learned` of the file, which must outlive it; nothing is known yet. 0, or -EINVAL with `e`.
 */
int learned_load(struct learned *learned, const json_t *file, const struct where *w,
		 struct error *e);

/*
 * Learns all that can be, by opens as the runner and as others where it can become them; none stays
 * open. What cannot be tried is taken from the version where the file says since when it is so.
 */
void learned_learn(struct learned *learned, struct environment *env);

/*
 * The same for a report, by what the source says: a new reference to an object of numbers by name,
 * or NULL.
 */
json_t *learned_for_report(const struct source *model, struct environment *env);

/* The same from what a report says of a machine: an object of numbers by name. */
void learned_from_json(struct learned *learned, const json_t *json, const struct environment *env);

/* A new reference, or NULL without memory. */
json_t *learned_json(const struct learned *learned);

/* NULL: there is none of that name. */
const struct lesson *learned_find(const struct learned *learned, const char *name);

/* The field of "attr.NAME", or the word of all bit fields, attr.bits. */
struct abi_field lesson_field(const struct abi *abi, const char *name);

#endif
