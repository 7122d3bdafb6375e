/* SPDX-License-Identifier: MIT */
/*
 * Members of the metadata page, by the layout in cases/abi.
 */
#include "call/mmap_page.h"

#include <errno.h>

#include "plan/plan.h"

int mmap_page_offset(const struct abi *abi, const char *name)
{
	const struct layout *layout = abi_layout(abi, "mmap_page");
	struct plan_for with = {.abi = abi};
	struct plan page;
	int offset;

	if (!layout || plan_make(&page, &with, layout))
		return -EINVAL;
	offset = plan_offset(&page, name);
	plan_free(&page);
	return offset;
}
