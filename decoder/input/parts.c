/* SPDX-License-Identifier: MIT */
/*
 * perf's directory format, tools/perf/util/data.c.
 */
#include "input/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/arena.h"
#include "text/source.h"

enum { PARTS_MAX = 65536 };

static int by_number(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

/* Takes the number of data.N; other names are none. */
static int take_file_name(struct parts *parts, const char *name)
{
	unsigned number;
	char end;

	if (strncmp(name, "data.", 5) != 0 || !name[5] || (name[5] == '0' && name[6]) ||
	    name[5 + strspn(name + 5, "0123456789")] ||
	    sscanf(name + 5, "%7u%c", &number, &end) != 1 || parts->count == PARTS_MAX)
		return 0;
	if (list_grow(&parts->numbers, parts->count, &parts->capacity, sizeof(*parts->numbers)))
		return -ENOMEM;
	parts->numbers[parts->count++] = number;
	return 0;
}

/* A file whose reading does not wait, nor go on forever. 0 or a negative errno, which errno is too.
 */
static int open_regular(struct parts *parts, const char *name)
{
	struct stat st;

	parts->fd = openat(parts->dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (parts->fd < 0 || fstat(parts->fd, &st))
		return -errno;
	errno = S_ISREG(st.st_mode) ? 0 : EINVAL;
	return -errno;
}

int parts_open(struct parts *parts, int dir)
{
	DIR *names = folder_open_at(dir, ".");
	const struct dirent *entry;
	int err = 0;

	*parts = (struct parts){.dir = dir, .fd = -1};
	if (!names)
		return -errno;
	for (errno = 0; !err && (entry = readdir(names)); errno = 0)
		err = take_file_name(parts, entry->d_name);
	err = err ? err : -errno;
	closedir(names);
	if (err)
		return err;
	if (parts->count)
		qsort(parts->numbers, parts->count, sizeof(*parts->numbers), by_number);
	return open_regular(parts, "data");
}

int parts_next(struct parts *parts)
{
	char name[32];

	if (parts->dir < 0 || parts->next == parts->count)
		return 0;
	if (parts->fd >= 0)
		close(parts->fd);
	snprintf(name, sizeof(name), "data.%u", parts->numbers[parts->next++]);
	return open_regular(parts, name) ? -errno : 1;
}

void parts_close(struct parts *parts)
{
	if (parts->fd >= 0)
		close(parts->fd);
	free(parts->numbers);
	*parts = (struct parts){.dir = -1, .fd = -1};
}

bool parts_beside(int fd)
{
	char link[64], path[4096], *slash;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 16);
	if (n < 0 || path[0] != '/')
		return false;
	path[n] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash + 1, "data.0");
	return access(path, F_OK) == 0;
}
