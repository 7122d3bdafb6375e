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

/*
 * Asks for room in huge pages (MADV_HUGEPAGE), before it is used: it then costs a few page faults
 * and not thousands, and a fork copies a few entries of the page table. Where the kernel has no
 * huge pages, or gives them to all, and outside glibc, this changes nothing.
 */
void heap_prepare(void);

/* Its policy, SCHED_OTHER or another, and *priority (0 to 99); -1 with errno. */
int scheduler_get(int *priority);

/* 0, or -1 with errno. */
int scheduler_set(int policy, int priority);

/* Closes all from `first` on, up to the limit, but for `kept` (in any order, -1: none). */
void descriptors_close_from(int first, int kept, int kept_too);

/*
 * /dev/null, or where there is none a file in memory, which is empty to whoever reads it from its
 * beginning; closed at exec. -1 with errno.
 */
int descriptors_open_null(void);

/* 0, 1 and 2 become /dev/null; under a sanitizer 2 stays, where it writes what it finds. */
void descriptors_null(int devnull);

#endif
