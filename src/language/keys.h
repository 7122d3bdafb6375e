/* SPDX-License-Identifier: MIT */
/*
 * Objects of case files that have no other keys than those that are known.
 */
#ifndef PERFABI_KEYS_H
#define PERFABI_KEYS_H

#include "text/error.h"

/*
 * 0, or -EINVAL with `e` filled: it is no object, or has another key than those of the
 * NULL-terminated list. `what` is said of it: "a case".
 */
int keys_check(const json_t *object, const char *const keys[], const char *what,
	       const struct where *w, struct error *e);

#endif
