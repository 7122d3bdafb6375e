/* SPDX-License-Identifier: MIT */
/*
 * What rows of a table say of the struct that they fill.
 */
#ifndef PERFABI_ROW_H
#define PERFABI_ROW_H

#include <stddef.h>

/* The row's `at`: where its value goes. */
#define AT(type, member) .at = offsetof(type, member)

#endif
