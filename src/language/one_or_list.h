/* SPDX-License-Identifier: MIT */
/*
 * Where cases take one value or a list of them: a value that is no list, as a list of one.
 */
#ifndef PERFABI_ONE_OR_LIST_H
#define PERFABI_ONE_OR_LIST_H

#include <jansson.h>

/* How many there are; of NULL, none. */
size_t elements(const json_t *value);

/* The i-th, borrowed; NULL behind the last. */
const json_t *element(const json_t *value, size_t i);

#endif
