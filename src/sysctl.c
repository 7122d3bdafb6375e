/* SPDX-License-Identifier: MIT */
/*
 * Files of one number each. They are watched through descriptors that stay open: a look at all
 * costs six system calls, and comes with each case.
 */
#include "sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const sysctl_names[] = {"perf_event_paranoid",
				    "perf_event_max_sample_rate",
				    "perf_event_mlock_kb",
				    "perf_event_max_stack",
				    "perf_event_max_contexts_per_stack",
				    "perf_cpu_time_max_percent",
				    NULL};

static int open_one(const char *name, int flags)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	return open(path, flags | O_CLOEXEC);
}

static int read_open(int fd, long *value)
{
	char text[32], *end;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	*value = strtol(text, &end, 10);
	return end == text ? -EINVAL : 0;
}

int sysctl_read(const char *name, long *value)
{
	int fd = open_one(name, O_RDONLY), err = fd < 0 ? -errno : read_open(fd, value);

	if (fd >= 0)
		close(fd);
	return err;
}

int sysctl_write(const char *name, long value)
{
	char text[24];
	int fd = open_one(name, O_WRONLY), err = fd < 0 ? -errno : 0;
	int n = snprintf(text, sizeof(text), "%ld\n", value);

	if (!err && write(fd, text, (size_t)n) != n)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static void accept_one(struct sysctl_watch *watch, size_t i)
{
	if (watch->files[i] < 0 || read_open(watch->files[i], &watch->values[i]))
		watch->values[i] = 0;
}

bool sysctl_set_is_empty(const struct sysctl_set *set)
{
	for (size_t i = 0; i < SYSCTLS; i++)
		if (set->has[i])
			return false;
	return true;
}

void sysctl_watch_begin(struct sysctl_watch *watch)
{
	for (size_t i = 0; i < SYSCTLS; i++)
		watch->files[i] = -1;
	for (size_t i = 0; sysctl_names[i]; i++)
		watch->files[i] = open_one(sysctl_names[i], O_RDONLY);
	for (size_t i = 0; i < SYSCTLS; i++)
		accept_one(watch, i);
}

void sysctl_watch_end(struct sysctl_watch *watch)
{
	for (size_t i = 0; i < SYSCTLS; i++)
		if (watch->files[i] >= 0)
			close(watch->files[i]);
}

void sysctl_watch_accept(struct sysctl_watch *watch, const struct sysctl_set *set)
{
	for (size_t i = 0; i < SYSCTLS; i++)
		if (set->has[i])
			accept_one(watch, i);
}

bool sysctl_watch_moved(struct sysctl_watch *watch, const struct sysctl_set *but, char *what,
			size_t size, bool *by_kernel)
{
	bool moved = false;

	*by_kernel = true;
	for (size_t i = 0; i < SYSCTLS; i++) {
		long now;

		if (but->has[i] || watch->files[i] < 0 || read_open(watch->files[i], &now) ||
		    now == watch->values[i])
			continue;
		*by_kernel = *by_kernel && now < watch->values[i] &&
			     !strcmp(sysctl_names[i], "perf_event_max_sample_rate");
		if (!moved)
			snprintf(what, size, "%s was %ld and is %ld", sysctl_names[i],
				 watch->values[i], now);
		watch->values[i] = now;
		moved = true;
	}
	return moved;
}
