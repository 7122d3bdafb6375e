/* SPDX-License-Identifier: MIT */
/*
 * close_range(2) where the kernel has it (5.9); or those that /proc lists; or one after the other,
 * which in a container can be a million system calls.
 */
#include "machine/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

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
