/* SPDX-License-Identifier: MIT */
/*
 * Files of one number each. They are watched through descriptors that stay open: a look at all
 * costs seven system calls, and comes with each case.
 */
#include "machine/sysctl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

const char *const sysctl_names[] = {[SYSCTL_PARANOID] = "perf_event_paranoid",
				    [SYSCTL_MAX_SAMPLE_RATE] = "perf_event_max_sample_rate",
				    [SYSCTL_MLOCK_KB] = "perf_event_mlock_kb",
				    [SYSCTL_MAX_STACK] = "perf_event_max_stack",
				    [SYSCTL_MAX_CONTEXTS] = "perf_event_max_contexts_per_stack",
				    [SYSCTL_CPU_TIME_MAX_PERCENT] = "perf_cpu_time_max_percent",
				    [SYSCTL_USER_ACCESS] = "perf_user_access",
				    [SYSCTLS] = NULL};

enum { PATH_SIZE = 128 };

static const char *path_of(const char *name, char path[static PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "/proc/sys/kernel/%s", name);
	return path;
}

static int open_sysctl(const char *name, int flags)
{
	char path[PATH_SIZE];

	return open(path_of(name, path), flags | O_CLOEXEC);
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
	int fd = open_sysctl(name, O_RDONLY), err = fd < 0 ? -errno : read_open(fd, value);

	if (fd >= 0)
		close(fd);
	return err;
}

static int write_as_it_is(const char *name, long value)
{
	char text[24];
	int fd = open_sysctl(name, O_WRONLY), err = fd < 0 ? -errno : 0;
	int n = snprintf(text, sizeof(text), "%ld\n", value);

	if (!err && write(fd, text, (size_t)n) != n)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

int sysctl_write(const char *name, long value)
{
	const char *share = sysctl_names[SYSCTL_CPU_TIME_MAX_PERCENT];
	int err = write_as_it_is(name, value), back;
	long percent;

	if (err != -EINVAL || strcmp(name, sysctl_names[SYSCTL_MAX_SAMPLE_RATE]) ||
	    sysctl_read(share, &percent) || (percent > 0 && percent < 100) ||
	    write_as_it_is(share, 50))
		return err;
	err = write_as_it_is(name, value);
	back = write_as_it_is(share, percent);
	return back ? back : err;
}

/* Takes in all that inotify has to tell; an overflow of its queue is a write of each. */
static void take_notices(struct sysctl_watch *watch)
{
	_Alignas(struct inotify_event) char events[1024];
	ssize_t n;

	while (watch->notices >= 0 && (n = read(watch->notices, events, sizeof(events))) > 0) {
		for (ssize_t at = 0; at < n;) {
			struct inotify_event *event = (void *)(events + at);

			for (size_t i = 0; i < SYSCTLS; i++)
				if (event->mask & IN_Q_OVERFLOW || event->wd == watch->notice[i])
					watch->written[i] = true;
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	}
}

static void accept_one(struct sysctl_watch *watch, size_t i)
{
	watch->written[i] = false;
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
	char path[PATH_SIZE];

	*watch = (struct sysctl_watch){.notices = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
	for (size_t i = 0; i < SYSCTLS; i++)
		watch->files[i] = watch->notice[i] = -1;
	for (size_t i = 0; sysctl_names[i]; i++) {
		watch->files[i] = open_sysctl(sysctl_names[i], O_RDONLY);
		if (watch->notices >= 0) /* of an inode, which the open file keeps */
			watch->notice[i] = inotify_add_watch(
				watch->notices, path_of(sysctl_names[i], path), IN_MODIFY);
	}
	for (size_t i = 0; i < SYSCTLS; i++)
		accept_one(watch, i);
}

void sysctl_watch_end(struct sysctl_watch *watch)
{
	for (size_t i = 0; i < SYSCTLS; i++)
		if (watch->files[i] >= 0)
			close(watch->files[i]);
	if (watch->notices >= 0)
		close(watch->notices);
}

void sysctl_watch_accept(struct sysctl_watch *watch, const struct sysctl_set *set)
{
	take_notices(watch);
	for (size_t i = 0; i < SYSCTLS; i++)
		if (set->has[i])
			accept_one(watch, i);
}

/* "perf_event_paranoid was 2 and is -1". */
static void say_moved(const char *name, long was, long is, char *what, size_t size)
{
	if (was == is)
		snprintf(what, size, "%s was written, and is %ld again", name, is);
	else
		snprintf(what, size, "%s was %ld and is %ld", name, was, is);
}

bool sysctl_watch_moved(struct sysctl_watch *watch, const struct sysctl_set *but, char *what,
			size_t size, bool *by_kernel)
{
	bool moved = false;

	*by_kernel = true;
	take_notices(watch);
	for (size_t i = 0; i < SYSCTLS; i++) {
		long now;

		if (but->has[i] || watch->files[i] < 0 || read_open(watch->files[i], &now) ||
		    (now == watch->values[i] && !watch->written[i]))
			continue;
		*by_kernel = *by_kernel && now < watch->values[i] && !watch->written[i] &&
			     !strcmp(sysctl_names[i], "perf_event_max_sample_rate");
		if (!moved)
			say_moved(sysctl_names[i], watch->values[i], now, what, size);
		watch->values[i] = now;
		watch->written[i] = false;
		moved = true;
	}
	return moved;
}
