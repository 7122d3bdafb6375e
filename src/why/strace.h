/* SPDX-License-Identifier: MIT */
/*
 * A call as strace(1) prints it: perf_event_open({type=PERF_TYPE_SOFTWARE, ...}, 0, -1, -1, 0).
 */
#ifndef PERFABI_WHY_STRACE_H
#define PERFABI_WHY_STRACE_H

#include "text/error.h"

/* Whether a line has such a call in it, whatever stands before. */
bool strace_has_call(const char *line);

/*
 * The call as `open` of a case has it: a new reference. NULL with `e` filled: the line is cut off,
 * or is of `strace` without -v, which leaves out most of attr.
 */
json_t *strace_open(const char *line, const struct where *w, struct error *e);

#endif
