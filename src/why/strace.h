/* SPDX-License-Identifier: MIT */
/*
 * A call as strace(1) prints it: perf_event_open({type=PERF_TYPE_SOFTWARE, ...}, 0, -1, -1, 0).
 */
#ifndef PERFABI_WHY_STRACE_H
#define PERFABI_WHY_STRACE_H

#include "abi/abi.h"
#include "text/error.h"

/* Whether a line has such a call in it, whatever stands before. */
bool strace_has_call(const char *line);

/* What a line says beside the call itself. */
struct strace_result {
	bool is_told;        /* it has the result: */
	int fd;              /* the descriptor, or -1 */
	char error[16];      /* "EINVAL"; empty where it opened */
	bool group_is_event; /* of strace -y: group_fd is an event */
};

/*
 * The call as `open` of a case has it: a new reference; `result` may be NULL. NULL with `e` filled:
 * the line is cut off, or is of `strace` without -v, which leaves out most of attr.
 */
json_t *strace_open(const char *line, struct strace_result *result, const struct where *w,
		    struct error *e);

/* attr.size by its name, such as PERF_ATTR_SIZE_VER7, becomes the number. */
void strace_resolve_size(json_t *open, const struct abi *abi);

#endif
