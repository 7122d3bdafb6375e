/* SPDX-License-Identifier: MIT */
/*
 * A case as `list --json` and `show` have it.
 */
#ifndef PERFABI_SHOW_H
#define PERFABI_SHOW_H

#include <jansson.h>

#include "case/cases.h"

/* The case in full; a new reference. */
json_t *instance_json(const struct instance *instance);

/* Prints it, indented, and drops the reference. */
void print_json(json_t *json);

#endif
