/* SPDX-License-Identifier: MIT */
/*
 * Most limits bound what a case can do to the machine. Those on files and locked memory are what
 * cases are about: they are raised where they can be, so that results do not hang on the shell.
 */
#include "machine/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void bound(rlimit_resource resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	if (limit.rlim_cur > most)
		limit.rlim_cur = most;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	setrlimit(resource, &limit);
}

/* To `wanted`, or as near to that as the hard limit lets us. */
static void raise_to(rlimit_resource resource, rlim_t wanted)
{
	struct rlimit limit = {wanted, wanted}, was;

	if (getrlimit(resource, &was) || was.rlim_cur >= wanted)
		return;
	if (was.rlim_max >= wanted)
		limit.rlim_max = was.rlim_max;
	if (setrlimit(resource, &limit)) {
		was.rlim_cur = was.rlim_max;
		setrlimit(resource, &was);
	}
}

static void set_to(rlimit_resource resource, rlim_t wanted)
{
	raise_to(resource, wanted);
	bound(resource, wanted);
}

/* The hard one alone, for `limit` of a step; the soft one is what users have. */
static void raise_memlock(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	limit.rlim_max = RLIM_INFINITY;
	setrlimit(RLIMIT_MEMLOCK, &limit);
}

rlim_t limits_hard(rlim_t hard, rlim_t wanted, uint64_t capabilities)
{
	return capabilities >> CAP_SYS_RESOURCE & 1 ? wanted : hard < wanted ? hard : wanted;
}

unsigned limits_processes(unsigned wanted)
{
	pid_t first = 0, pid = -1, parent = getpid();
	unsigned count = 0;

	while (count < wanted && (pid = fork()) > 0) {
		if (!count)
			first = pid;
		setpgid(pid, first); /* one group, which is killed as a whole */
		count++;
	}
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent) /* it may have died before */
			pause();
		_exit(0);
	}
	if (first)
		kill(-first, SIGKILL);
	for (unsigned i = 0; i < count; i++)
		while (waitpid(-first, NULL, 0) < 0 && errno == EINTR)
			;
	return count;
}

void limits_raise_stack(void)
{
	raise_to(RLIMIT_STACK, LIMITS_STACK);
}

void limits_set(unsigned seconds)
{
	bound(RLIMIT_CORE, 0);
	bound(RLIMIT_CPU, seconds + 1);
	set_to(RLIMIT_FSIZE, LIMITS_FILE_BYTES);
	set_to(RLIMIT_NOFILE, LIMITS_FILES); /* of events, hundreds */
	raise_memlock();
	/* One that cannot be queued comes as one that says nothing: SIGIO, of no event. */
	raise_to(RLIMIT_SIGPENDING, LIMITS_SIGNALS);
#if !defined(SANITIZED) /* the sanitizers' shadow memory is larger */
	bound(RLIMIT_AS, LIMITS_ADDRESS_SPACE);
#endif
}

/*
 * Whatever fails here only makes perfabi slower.
 */

/*
 * ROOM is a little more than all cases take, 27 MB: where memory is not overcommitted, each fork is
 * charged for it. Two BLOCKs, for the first may lie in what there is; PAD is malloc()'s own
 * default.
 */
enum { HUGE_PAGE = 2 << 20, ROOM = 32 << 20, BLOCK = 100000, PAD = 128 << 10 };

void heap_prepare(void)
{
#if defined(__GLIBC__)
	const uintptr_t mask = HUGE_PAGE - 1, from = ((uintptr_t)sbrk(0) + mask) & ~mask;
	void *volatile first, *volatile second; /* volatile, or the compiler leaves both out */
	uintptr_t to;

	mallopt(M_TRIM_THRESHOLD, 2 * ROOM);
	mallopt(M_TOP_PAD, ROOM);
	first = malloc(BLOCK);
	second = malloc(BLOCK);
	free(first);
	free(second);
	mallopt(M_TOP_PAD, PAD);
	to = (uintptr_t)sbrk(0) & ~mask;
	if (from < to)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
#endif
}

/*
 * The system calls themselves: musl's functions of these names refuse everything.
 */

int scheduler_get(int *priority)
{
	struct sched_param param = {0};
	long policy = syscall(SYS_sched_getscheduler, 0);

	if (policy < 0 || syscall(SYS_sched_getparam, 0, &param))
		return -1;
	*priority = param.sched_priority;
	return (int)policy;
}

int scheduler_set(int policy, int priority)
{
	const struct sched_param param = {.sched_priority = priority};

	return (int)syscall(SYS_sched_setscheduler, 0, policy, &param);
}

/*
 * close_range(2) where the kernel has it (5.9); or those that /proc lists; or one after the other,
 * which in a container can be a million system calls.
 */

enum { MANY = 1 << 20 };

/*
 * False if they are not listed. The list goes by number: what is closed on the way moves nothing.
 * Whoever calls has one thread, so that memory can be had behind a fork too.
 */
static bool close_listed(int first, int last)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		long fd = strtol(entry->d_name, NULL, 10);

		if (entry->d_name[0] != '.' && fd >= first && fd <= last && fd != dirfd(dir))
			close((int)fd);
	}
	closedir(dir);
	return true;
}

static void close_range_of(int first, int last)
{
	struct rlimit limit;
	int end = MANY;

	if (first > last)
		return;
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0U))
		return;
#endif
	if (close_listed(first, last))
		return;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_max < MANY)
		end = (int)limit.rlim_max;
	for (int fd = first; fd <= last && fd < end; fd++)
		close(fd);
}

void descriptors_close_from(int first, int kept, int kept_too)
{
	const int last = 0x7fffffff;
	int low = kept < kept_too ? kept : kept_too, high = kept < kept_too ? kept_too : kept;

	if (low >= first) {
		close_range_of(first, low - 1);
		first = low + 1;
	}
	if (high >= first) {
		close_range_of(first, high - 1);
		first = high + 1;
	}
	close_range_of(first, last);
}

int descriptors_open_null(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	return fd >= 0 ? fd : (int)syscall(SYS_memfd_create, "perfabi-null", 1U /* CLOEXEC */);
}

void descriptors_null(int devnull)
{
	dup2(devnull, 0);
	dup2(devnull, 1);
#if !defined(SANITIZED)
	dup2(devnull, 2);
#endif
}
