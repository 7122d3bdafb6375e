/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into perfabi: a kernel that gives one answer to every perf_event_open. $ANSWER has what
 * the system call returns: a negative errno, or the number of a descriptor.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long (*real)(long number, ...);
static long answer;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("ANSWER");

	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	answer = text ? strtol(text, NULL, 10) : 0;
}

long syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number != SYS_perf_event_open)
		return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (answer < 0)
		errno = (int)-answer;
	return answer < 0 ? -1 : answer;
}
