/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into perfabi: a kernel that lets users open nothing at all where perf_event_paranoid is
 * above 2, as Debian's and Ubuntu's do; with CLOSED_TO_PERFMON set CAP_PERFMON is not enough, as it
 * is not there. It asks behind the check of the flags, and before it reads the attr.
 */
#include "syscall.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef CAP_PERFMON /* Linux 5.8 */
#define CAP_PERFMON 38
#endif

enum { FLAGS_KNOWN = 0xf };

static int is_privileged(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	unsigned long long have;

	if (real(SYS_capget, &header, data))
		return 0;
	have = data[0].effective | (unsigned long long)data[1].effective << 32;
	return (have >> CAP_SYS_ADMIN & 1) ||
	       (have >> CAP_PERFMON & 1 && !getenv("CLOSED_TO_PERFMON"));
}

static int is_closed(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int paranoid, closed = f && fscanf(f, "%d", &paranoid) == 1 && paranoid > 2;

	if (f)
		fclose(f);
	return closed;
}

static long open_event(const long a[6])
{
	if (!(a[4] & ~FLAGS_KNOWN) && is_closed() && !is_privileged()) {
		errno = EACCES;
		return -1;
	}
	return pass_on(SYS_perf_event_open, a);
}
