/* SPDX-License-Identifier: MIT */
/*
 * Which cases of a report are to be run again.
 */
#ifndef PERFABI_RERUN_H
#define PERFABI_RERUN_H

/*
 * The ids of those that did not come out well in the report of perfabi run --format json or jsonl
 * at `path`: failed, passed against the baseline, could not be judged, or had begun and have no
 * end. A NULL-terminated list behind those of `before` that are paths; rerun_free() it. NULL after
 * a message.
 */
char **rerun_arguments(const char *path, char *const before[], const char *program);
void rerun_free(char **arguments);

#endif
