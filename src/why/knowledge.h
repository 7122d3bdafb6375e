/* SPDX-License-Identifier: MIT */
/*
 * cases/why.json: what is tried of a refused call, what is said of one that opens, and who else
 * could change the machine.
 */
#ifndef PERFABI_WHY_KNOWLEDGE_H
#define PERFABI_WHY_KNOWLEDGE_H

#include "machine/sysctl.h"
#include "why/changes.h"

/* Something to say of calls that a predicate is about. */
struct remark {
	struct predicate *when;
	struct sentence says;
	const char *check; /* that says so, or NULL */
	bool is_measured;  /* it is only said of what was counted */
	bool is_useless;   /* an event that opens, and does nothing of what it is for */
};

struct remarks {
	const struct remark *list;
	size_t count;
};

/* A sysctl that could be another. */
struct sysctl_change {
	struct sysctl_setting {
		const char *name;
		size_t place;         /* in sysctl_names */
		struct right_side to; /* as `fact` */
	} set;
	struct predicate *when;
	struct sentence loses;
	bool is_untried; /* it could not always be put back: the model alone answers */
};

/* A caller, from the one with the fewest rights on. */
struct caller_change {
	int as; /* enum identity */
	const char *is, *says;
	const char *is_confined; /* what it is in a user namespace, if that is another; or NULL */
};

struct knowledge {
	const json_t *absent;
	struct changes changes;
	const struct caller_change *callers;
	size_t caller_count;
	const struct sysctl_change *sysctls;
	size_t sysctl_count;
	struct remarks notes, others;
	struct arena arena;
};

/* 0, or a negative errno with `e` filled. Free with knowledge_free(), whatever came. */
int knowledge_load(struct knowledge *k, const struct source *source, const struct model *model,
		   struct error *e);
void knowledge_free(struct knowledge *k);

#endif
