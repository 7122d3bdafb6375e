/* SPDX-License-Identifier: MIT */
/*
 * The members that records have when they are decoded, so that a pattern's typo is said.
 */
#ifndef PERFABI_RECORD_MEMBERS_H
#define PERFABI_RECORD_MEMBERS_H

#include "abi/abi.h"

/*
 * By record type, as the decoder writes it, the top-level members that one can have, whatever its
 * attr: {"MMAP2": {"pid": true, ...}, ...}. A new reference, or NULL with `e` filled.
 */
json_t *record_members(const struct abi *abi, struct error *e);

/*
 * Holds the patterns in a pattern on a list of records against `members`: the type's where a
 * pattern names its type, else any record's. 0, or -EINVAL with `e` filled.
 */
int record_members_check(const json_t *members, const json_t *pattern, const struct where *w,
			 struct error *e);

#endif
