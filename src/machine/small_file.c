/* SPDX-License-Identifier: MIT */
/*
 * One open, one read: what these files hold is made anew at each.
 */
#include "machine/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

ssize_t read_small_at(int folder, const char *path, char *text, size_t size)
{
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : read(fd, text, size - 1);

	if (fd >= 0 && n < 0)
		n = -errno;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

ssize_t read_small(const char *path, char *text, size_t size)
{
	return read_small_at(AT_FDCWD, path, text, size);
}

ssize_t read_line(const char *path, char *text, size_t size)
{
	ssize_t n = read_small(path, text, size);

	if (n < 0)
		return n;
	text[strcspn(text, "\n")] = '\0';
	return (ssize_t)strlen(text);
}
