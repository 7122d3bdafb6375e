/* SPDX-License-Identifier: MIT */
/*
 * JSON Schemas of the files below cases/, made of the rows by which these are read.
 */
#ifndef PERFABI_SCHEMA_H
#define PERFABI_SCHEMA_H

#include <stdio.h>

/* Writes the schema of "NAME-schema", as case-schema. 0, -ENOENT where it is none, or -ENOMEM. */
int schema_print(FILE *f, const char *topic);

#endif
