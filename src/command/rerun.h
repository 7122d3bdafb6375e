/* SPDX-License-Identifier: MIT */
/*
 * Which cases of a report are to be run again.
 */
#ifndef PERFABI_RERUN_H
#define PERFABI_RERUN_H

#include <jansson.h>

#include "command/session.h"

/*
 * The ids, as keys of an object, of those that did not come out well in the report of perfabi run
 * --format json or jsonl at `path`: failed, passed against the baseline, could not be judged, or
 * had begun and have no end. *baseline is the --baseline of that run, or NULL. Both are the
 * caller's; NULL after a message.
 */
json_t *rerun_ids(const char *path, const char *program, char **baseline);

/*
 * Leaves of the cases that `session` has picked those of these ids, and says which of the ids no
 * case has. 0, or EXIT_USAGE after a message if none is left.
 */
int rerun_narrow(struct session *session, const json_t *ids, const char *path);

#endif
