/* SPDX-License-Identifier: MIT */
/*
 * Objects of case files that have no other keys than those that are known.
 */
#ifndef PERFABI_KEYS_H
#define PERFABI_KEYS_H

#include <jansson.h>

#include "text/error.h"

/*
 * 0, or -EINVAL with `e` filled: it is no object, or has another key than those of the
 * NULL-terminated list. `what` is said of it: "a case".
 */
int keys_check(const json_t *object, const char *const keys[], const char *what,
	       const struct where *w, struct error *e);

/* How many there are; of NULL, none. */
size_t elements(const json_t *value);

/* The i-th, borrowed; NULL behind the last. */
const json_t *element(const json_t *value, size_t i);

#endif
