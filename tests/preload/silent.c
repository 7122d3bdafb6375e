/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into perfabi: with NEVER_FIRES set, a machine on which hardware breakpoints open and
 * never fire, as under hypervisors that deliver no debug exceptions. What the kernel has granted is
 * opened, or modified, once more on memory and code that nobody touches.
 */
#include "syscall.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { PAGE = 4096 };

static char untouched[PAGE] __attribute__((aligned(PAGE)));

__attribute__((noinline, used)) static void uncalled(void)
{
	untouched[0]++;
}

static int is_silenced(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_BREAKPOINT && getenv("NEVER_FIRES");
}

/* Where it lies, for what is behind a short attr is not ours; returns what stood there. */
static __u64 move_away(struct perf_event_attr *attr)
{
	__u64 was = attr->bp_addr;

	attr->bp_addr = attr->bp_type & HW_BREAKPOINT_X ? (unsigned long)uncalled
							: (unsigned long)untouched;
	return was;
}

/* What the kernel granted it has read: there is such an attr. It is changed where it lies, and
 * back. */
static long open_event(const long a[6])
{
	struct perf_event_attr *attr = (struct perf_event_attr *)a[0];
	long fd = pass_on(SYS_perf_event_open, a);
	__u64 was;

	if (fd < 0 || !is_silenced(attr))
		return fd;
	close((int)fd);
	was = move_away(attr);
	fd = pass_on(SYS_perf_event_open, a);
	attr->bp_addr = was;
	return fd;
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*real_ioctl)(int, unsigned long, ...);
	struct perf_event_attr *attr;
	va_list list;
	__u64 was;
	int got;

	va_start(list, request);
	attr = va_arg(list, struct perf_event_attr *);
	va_end(list);
	if (!real_ioctl)
		*(void **)&real_ioctl = dlsym(RTLD_NEXT, "ioctl");
	got = real_ioctl(fd, request, attr);
	if (got || (unsigned)request != (unsigned)PERF_EVENT_IOC_MODIFY_ATTRIBUTES ||
	    !is_silenced(attr))
		return got;
	was = move_away(attr);
	got = real_ioctl(fd, request, attr);
	attr->bp_addr = was;
	return got;
}
