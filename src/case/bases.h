/* SPDX-License-Identifier: MIT */
/*
 * Base events: what the `open` of many cases begins with, by a name of vehicles.json.
 */
#ifndef PERFABI_BASES_H
#define PERFABI_BASES_H

#include "text/error.h"

/*
 * Puts, in each `open` of the file that has a `base`, the open of that name under what is written
 * there. 0, or a negative errno with `e` filled.
 */
int bases_apply(json_t *file, const json_t *bases, const struct where *w, struct error *e);

#endif
