/* SPDX-License-Identifier: MIT */
/*
 * Members of the metadata page, by the layout in cases/abi.
 */
#include "call/mmap_page.h"

#include <errno.h>

#include "plan/plan.h"

int mmap_page_offset(const struct abi *abi, const char *name)
{
	struct plan_for with = {.abi = abi};
	struct plan page;
	int offset;

	if (plan_make(&page, &with, abi_layout(abi, "mmap_page")))
		return -EINVAL;
	offset = plan_offset(&page, name);
	plan_free(&page);
	return offset;
}
