/* SPDX-License-Identifier: MIT */
/*
 * The resource limits of a case's process.
 */
#ifndef PERFABI_LIMITS_H
#define PERFABI_LIMITS_H

#include <stdint.h>
#include <sys/resource.h>

/* `_LEAST`: with less, cases would fail of that. */
/* In which this libc takes the resource of setrlimit(2). */
#if defined(__GLIBC__)
typedef __rlimit_resource_t rlimit_resource;
#else
typedef int rlimit_resource;
#endif

enum {
	LIMITS_FILES = 4096,
	LIMITS_FILES_LEAST = 64,
	LIMITS_SIGNALS = 1024,
	LIMITS_SIGNALS_LEAST = 64,
	LIMITS_STACK = 8 << 20,
	LIMITS_STACK_LEAST = 256 << 10,
	LIMITS_FILE_BYTES = 4 << 20,
	LIMITS_FILE_BYTES_LEAST = 1 << 20,
	LIMITS_ADDRESS_SPACE = 1 << 30,
	LIMITS_PROCESSES_OF_CASE = 4, /* at a time, for the most part */
	LIMITS_PROCESSES_OF_RUN = 4
};

/* The hard limit that a case gets where this process has `hard`: a process with CAP_SYS_RESOURCE
 * raises it to `wanted`. */
rlim_t limits_hard(rlim_t hard, rlim_t wanted, uint64_t capabilities);

/*
 * How many processes more this one can have, of `wanted`: tried, and ended again. The limit may be
 * a user's (RLIMIT_NPROC), a cgroup's or the machine's.
 */
unsigned limits_processes(unsigned wanted);

/* The stack of this process and of those it starts, as far as the hard limit goes. */
void limits_raise_stack(void);

/* Bounds what the calling process, a case's, may take, `seconds` of cpu time among it. Before
 * privilege is dropped. */
void limits_set(unsigned seconds);

#endif
