/* SPDX-License-Identifier: MIT */
/*
 * What is learned of a kernel by opening events on it: which bits it knows, how many breakpoints
 * there are, what a later version or a distribution has changed. cases/model.json says by which
 * opens.
 */
#ifndef PERFABI_MODEL_LEARNED_H
#define PERFABI_MODEL_LEARNED_H

#include "abi/attr.h"
#include "machine/environment.h"
#include "text/doc.h"

enum { LEARNED_MAX = 48 };

struct learned_item {
	const char *name, *about;
	const char *bits_of, *values_of, *first_of, *least_of; /* what is varied, or NULL */
	const char *count;                                     /* of events, until this errno */
	const char *unless;                                    /* the errno of what is not known */
	const char *const *yes, *const *no;                    /* errnos, or "opens" */
	const char *since;            /* a version, a mend, or the family whose values have them */
	const char *as, *leader;      /* who opens, and on which leader */
	const json_t *open, *by_arch; /* or NULL */
	/* What makes of `open` the same call without what is asked about, or NULL: where both get
	 * the same errno from a check before the PMU is looked up, nothing is learned. */
	const json_t *without;
	uint32_t capability, errno_is_value;
	bool is_known;
	uint64_t value;
};

struct learned {
	struct learned_item list[LEARNED_MAX];
	size_t count;
};

extern const struct doc_type learned_item_type;

/* Reads `learned` of cases/model.json, as a doc_row does; nothing is known yet. */
int learned_read(struct doc *d, const json_t *json, void *learned, const struct where *w);

/* 0, or -EINVAL with `e` filled: what `since` names is not in cases/abi. */
int learned_check(const struct learned *learned, const struct abi *abi, const struct where *w,
		  struct error *e);

/*
 * Learns all that can be, by opens as the runner and as others where it can become them; none stays
 * open. What cannot be tried is taken from the version where the file says since when it is so.
 */
void learned_learn(struct learned *learned, struct environment *env);

/* The same from what a report says of a machine: an object of numbers by name. */
void learned_from_json(struct learned *learned, const json_t *json, const struct environment *env);

/* A new reference. */
json_t *learned_json(const struct learned *learned);

/* The value of that name; false: it is not known, and 0, or there is none (of NULL, too). */
bool learned_get(const struct learned *learned, const char *name, uint64_t *value);

/* The field of "attr.NAME", or the word of all bit fields, attr.bits. */
struct abi_field learned_field(const struct abi *abi, const char *name);

/*
 * A field of attr. Words of bit fields have their bits where a little-endian machine has them: so a
 * record of one machine means the same on another.
 */
uint64_t field_get(const struct abi_field *field, const unsigned char *attr);
void field_set(const struct abi_field *field, unsigned char *attr, uint64_t value);

/* The bits of such a word that the field is; 0: none, or they are reserved. */
uint64_t field_bits(const struct abi_field *field, const struct abi_field *word);

#endif
