/* SPDX-License-Identifier: MIT */
/*
 * What one caller meets with a call: what the kernel says, which check it is, by what changes the
 * call opens, what an event that opens does all the same not do, and what comes of the calls behind
 * it.
 */
#ifndef PERFABI_WHY_INQUIRY_H
#define PERFABI_WHY_INQUIRY_H

#include "why/asker.h"
#include "why/follow.h"
#include "why/knowledge.h"

enum { FOLLOWS_MAX = 8 };

struct inquiry {
	struct model *model;
	const struct tables *tables;
	const struct knowledge *knowledge;
	const struct plan_of_stage *plan; /* one call, `asked`, and what was given before */
	struct follow follows[FOLLOWS_MAX];
	size_t follow_count;
	const char *told; /* what somebody else was told: an errno's name, "ok", or NULL */
	bool is_tried;    /* on this machine */
	bool is_brief;    /* what it comes to is all that is asked */
};

/*
 * Asks as that caller: in a process of its own, where it is tried. A new reference to an object, of
 * which docs/why.md tells; NULL with `why` filled.
 */
json_t *inquire(const struct inquiry *inquiry, enum identity as, char *why, size_t size);

#endif
