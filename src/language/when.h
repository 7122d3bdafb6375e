/* SPDX-License-Identifier: MIT */
/*
 * `when`: the conditions under which an alternative of `expect`, a step, or an entry of a baseline
 * counts.
 */
#ifndef PERFABI_WHEN_H
#define PERFABI_WHEN_H

#include "machine/environment.h"
#include "text/error.h"

/* Which instance of a case asks. */
struct who {
	enum identity as;
	const char *vehicle, *row; /* or NULL */
};

/* The names that a condition can have. */
struct when_names {
	const struct abi *abi;
	const json_t *vehicles; /* by name */
	const json_t *rows;     /* of the case's `each`, by name; NULL: whatever case it is */
	bool of_machine; /* it may say which machine, as a baseline's: when_names_machine() */
};

/* 0, or -EINVAL with `e` filled. Without `when` (NULL) all is well. */
int when_check(const json_t *when, const struct when_names *names, const struct where *w,
	       struct error *e);

/* Whether it says which machine it is about: hypervisor, vendor or cpu. */
bool when_names_machine(const json_t *when);

/* The architecture that it demands; NULL: none. */
const struct abi_arch *when_arch(const json_t *when, const struct abi *abi);

/* Whether all conditions hold; so they do without `when`. */
bool when_holds(const json_t *when, const struct who *who, struct environment *env);

#endif
