/* SPDX-License-Identifier: MIT */
/*
 * What all cases are understood by: the ABI, and the tables that case files share.
 */
#ifndef PERFABI_TABLES_H
#define PERFABI_TABLES_H

#include "call/phase.h"
#include "language/shape.h"

/* What verbs themselves read of the metadata page. */
enum page_member { PAGE_DATA_HEAD, PAGE_DATA_TAIL, PAGE_MEMBERS };

struct tables {
	const struct abi *abi;
	const struct abi_arch *arch; /* the host's, for register names; may be NULL */
	struct phases phases;
	const json_t *vehicles; /* by name */
	/* What is shown of records, of read(2), of the metadata page. */
	struct record_shapes records;
	struct member *read, *page;
	int page_at[PAGE_MEMBERS]; /* in bytes */
};

#endif
