/* SPDX-License-Identifier: MIT */
/*
 * What a hunt has found, for people and as JSON.
 */
#ifndef PERFABI_HUNT_REPORT_H
#define PERFABI_HUNT_REPORT_H

#include "hunt/hunt.h"

/* What all callers together have come to. */
struct hunt_sum {
	const struct hunt *hunt;
	bool is_json;
	json_t *callers; /* a list, owned */
	bool met[HUNT_CHECKS];
	unsigned char noticed[HUNT_TERMS];
	bool any_differ;
};

/* 0 or -ENOMEM. Free with hunt_sum_free(). */
int hunt_sum_begin(struct hunt_sum *sum, const struct hunt *hunt, bool is_json);
void hunt_sum_free(struct hunt_sum *sum);

/* Adds a caller's result, and prints it where people read. */
void hunt_sum_add(struct hunt_sum *sum, const struct hunt_result *result);

/*
 * Prints what is to be said of all. False: something differs, or a term was turned round and nobody
 * noticed, of a check that a call met.
 */
bool hunt_sum_end(struct hunt_sum *sum);

#endif
