/* SPDX-License-Identifier: MIT */
/*
 * The ioctls of an event by the names in cases/abi.
 */
#ifndef PERFABI_EVENT_IOCTL_H
#define PERFABI_EVENT_IOCTL_H

#include "abi/abi.h"

/* In which this libc takes a request; the kernel looks at 32 bits of it. */
#if defined(__GLIBC__)
typedef unsigned long ioctl_request;
#else
typedef int ioctl_request;
#endif

/*
 * The request number of PERF_EVENT_IOC_name on this machine: _IOC() of the direction and argument
 * that cases/abi has. 0 if there is none.
 */
unsigned long event_ioctl_number(const struct abi *abi, const char *name);

/* ioctl(2) of that name. 0 or a negative errno; -ENOSYS for an unknown name. */
int event_ioctl(const struct abi *abi, int fd, const char *name, void *argument);

#endif
