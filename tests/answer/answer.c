/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into perfabi: a kernel that gives one answer to every perf_event_open. $ANSWER has what
 * the system call returns: a negative errno, or the number of a descriptor. With $ANSWER_TYPE it is
 * the answer to opens of that attr.type alone that the real kernel grants.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long (*real)(long number, ...);
static long answer, type = -1;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("ANSWER"), *about = getenv("ANSWER_TYPE");

	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	answer = text ? strtol(text, NULL, 10) : 0;
	type = about ? strtol(about, NULL, 10) : -1;
}

/* What the kernel granted it has read: there is such an attr. */
static int is_about(long fd, long attr)
{
	return fd >= 0 && (long)((const struct perf_event_attr *)attr)->type == type;
}

long syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number != SYS_perf_event_open || type >= 0) {
		long ret = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);

		if (number != SYS_perf_event_open || !is_about(ret, a[0]))
			return ret;
		close((int)ret);
	}
	if (answer < 0)
		errno = (int)-answer;
	return answer < 0 ? -1 : answer;
}
