/* SPDX-License-Identifier: MIT */
/*
 * A mount is found by what is mounted there, not by its name.
 */
#include "machine/tracefs.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_mounted(long magic, const char *path)
{
	struct statfs st;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!fstatfs(fd, &st) && (long)st.f_type == magic)
		return fd;
	close(fd);
	return -1;
}

static int mount_detached(const char *type)
{
	int mount = -1;
#ifdef SYS_fsopen
	int fs = (int)syscall(SYS_fsopen, type, 1U /* FSOPEN_CLOEXEC */);

	if (fs >= 0 && !syscall(SYS_fsconfig, fs, 6U /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0))
		mount = (int)syscall(SYS_fsmount, fs, 1U /* FSMOUNT_CLOEXEC */, 0U);
	if (fs >= 0)
		close(fs);
#else
	(void)type;
#endif
	return mount;
}

int tracefs_open_as(const char *type, long magic, const char *const paths[])
{
	int mount, fd;

	for (size_t i = 0; paths[i]; i++) {
		fd = open_mounted(magic, paths[i]);
		if (fd >= 0)
			return fd;
	}
	mount = mount_detached(
		type); /* as O_PATH has it: what is locked or listed is opened anew */
	fd = mount < 0 ? -1 : openat(mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount >= 0)
		close(mount);
	return fd;
}

int tracefs_open(void)
{
	static const char *const paths[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
					    NULL};

	return tracefs_open_as("tracefs", TRACEFS_MAGIC, paths);
}
