/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into perfabi: a kernel that gives one answer to every perf_event_open. $ANSWER has what
 * the system call returns: a negative errno, or the number of a descriptor. With $ANSWER_TYPE it is
 * the answer to opens of that attr.type alone that the real kernel grants. With $MISS_UNTIL it is
 * no answer: breakpoints of sample_period 777 watch what lies 8 bytes on, as if hits were lost, the
 * first time, which leaves a file of that name; without a / in the name, each time. With
 * $FORGETS_REGISTERS the machine keeps no debug register that ptrace(2) sets.
 */
#include "syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

static long number_in(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : otherwise;
}

enum { MISSED_PERIOD = 777 };

static int is_missed(const struct perf_event_attr *attr, const char *until)
{
	int fd;

	if (attr->type != PERF_TYPE_BREAKPOINT || attr->sample_period != MISSED_PERIOD)
		return 0;
	if (!strchr(until, '/'))
		return 1;
	fd = open(until, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What the kernel granted it has read: there is such an attr. It is changed where it lies, and
 * back. */
static long open_beside(const long a[6], const char *until)
{
	struct perf_event_attr *attr = (struct perf_event_attr *)a[0];
	long fd = pass_on(SYS_perf_event_open, a);

	if (fd < 0 || !is_missed(attr, until))
		return fd;
	close((int)fd);
	attr->bp_addr += 8;
	fd = pass_on(SYS_perf_event_open, a);
	attr->bp_addr -= 8;
	return fd;
}

static long open_event(const long a[6])
{
	const char *until = getenv("MISS_UNTIL");
	long answer = number_in("ANSWER", 0), type = number_in("ANSWER_TYPE", -1), fd;

	if (until)
		return open_beside(a, until);
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

long ptrace(enum __ptrace_request request, ...)
{
	long pid, data;
	void *address;
	va_list list;

	va_start(list, request);
	pid = va_arg(list, long);
	address = va_arg(list, void *);
	data = va_arg(list, long);
	va_end(list);
	if (request == PTRACE_POKEUSER && getenv("FORGETS_REGISTERS"))
		return 0;
	return syscall(SYS_ptrace, request, pid, address, data);
}
