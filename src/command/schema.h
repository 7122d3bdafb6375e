/* SPDX-License-Identifier: MIT */
/*
 * JSON Schemas of the files below cases/, made of the rows by which these are read.
 */
#ifndef PERFABI_SCHEMA_H
#define PERFABI_SCHEMA_H

#include <stdbool.h>

/* Writes the schema of "NAME-schema", as case-schema, to standard output. False: there is none. */
bool schema_print(const char *topic);

#endif
