/* SPDX-License-Identifier: MIT */
/*
 * A plan and bytes -> a JSON value, where there are few of them and text is not what is wanted.
 */
#ifndef PERFABI_MEMBERS_H
#define PERFABI_MEMBERS_H

#include <jansson.h>

#include "plan/record.h"

/*
 * The members of the `size` bytes as an object, whatever record_put() says of them, which is in
 * *problem. The plan's numbers have to be such that JSON integers hold them (plan_for.integers). A
 * new reference, or NULL when there is no memory.
 */
json_t *members_of(const struct plan *plan, struct record *r, const unsigned char *bytes,
		   size_t size, enum record_problem *problem);

#endif
