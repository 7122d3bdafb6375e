/* SPDX-License-Identifier: MIT */
/*
 * Baselines: known deviations of a kernel, kept apart from the cases, which state the promise.
 *
 *     {"about": "Linux 5.15.y", "xfail": {
 *       "attr.read-format.accepted.user.lost": "not backported",
 *       "records.read.exit.*": {"when": {"kernel": [">=5.13", "<6.18"]},
 *                               "function": "sync_child_event", "reason": "writes no READ"}}}
 */
#ifndef PERFABI_BASELINE_H
#define PERFABI_BASELINE_H

#include "run/run.h"

struct baseline {
	json_t *json;
	const char *path;
};

/* Reads and checks it against the ids there are. 0, or -EINVAL after a message. */
int baseline_read(struct baseline *baseline, const char *path, const struct cases *cases,
		  const char *program);
void baseline_free(struct baseline *baseline);

/*
 * Turns fail into xfail and pass into xpass for the ids it names, which may be globs, where its
 * conditions hold. A pass of what fails only sometimes stays a pass.
 */
void baseline_apply(const struct baseline *baseline, struct environment *env,
		    struct result *results, size_t count);

#endif
