/* SPDX-License-Identifier: MIT */
/*
 * The command that runs a case of this run again.
 */
#ifndef PERFABI_AGAIN_H
#define PERFABI_AGAIN_H

/*
 * `perfabi run` with the case files that a run has, of its `folder` (or NULL) and its arguments,
 * and its baseline (or NULL), for a shell; the id of a case is to follow. Free it. NULL without
 * memory.
 */
char *again_command(const char *folder, const char *baseline, char *const arguments[]);

#endif
