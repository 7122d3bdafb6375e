/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into perfabi: a kernel that gives one answer to every perf_event_open. $ANSWER has what
 * the system call returns: a negative errno, or the number of a descriptor. With $ANSWER_TYPE it is
 * the answer to opens of that attr.type alone that the real kernel grants.
 */
#include "syscall.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

static long number_in(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : otherwise;
}

static long open_event(const long a[6])
{
	long answer = number_in("ANSWER", 0), type = number_in("ANSWER_TYPE", -1), fd;

	if (type >= 0) {
		fd = pass_on(SYS_perf_event_open, a);
		/* What the kernel granted it has read: there is such an attr. */
		if (fd < 0 || (long)((const struct perf_event_attr *)a[0])->type != type)
			return fd;
		close((int)fd);
	}
	if (answer < 0)
		errno = (int)-answer;
	return answer < 0 ? -1 : answer;
}
