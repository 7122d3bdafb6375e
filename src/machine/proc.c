/* SPDX-License-Identifier: MIT */
#include "machine/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool proc_stat_read(const char *folder, struct proc_stat *stat)
{
	unsigned long long own, kernel;
	long long children, kernel_children;
	char path[600], text[1024], *end;

	snprintf(path, sizeof(path), "%s/stat", folder);
	/* The name ends with the last parenthesis: it may have some itself. */
	if (read_small(path, text, sizeof(text)) <= 0 || !(end = strrchr(text, ')')))
		return false;
	if (sscanf(end + 1,
		   " %c %d %*d %d %*d %*d %u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d %ld",
		   &stat->state, &stat->parent, &stat->session, &stat->flags, &own, &kernel,
		   &children, &kernel_children, &stat->threads) != 9)
		return false;
	stat->ticks =
		own + kernel + (unsigned long long)children + (unsigned long long)kernel_children;
	return true;
}

bool proc_is_own(void)
{
	char self[24] = "";

	return readlink("/proc/self", self, sizeof(self) - 1) > 0 && atoi(self) == getpid();
}

static void count_task(struct session_look *look, char state)
{
	look->tasks += state != 'Z' && state != 'X';
	look->runnable += state == 'R';
	look->stopped += state == 'T' || state == 't';
}

static void count_threads(struct session_look *look, const char *process)
{
	struct dirent *entry;
	struct proc_stat stat;
	char path[512];
	DIR *folder;

	snprintf(path, sizeof(path), "%s/task", process);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "%s/task/%.16s", process, entry->d_name);
		if (entry->d_name[0] != '.' && proc_stat_read(path, &stat))
			count_task(look, stat.state);
	}
	if (folder)
		closedir(folder);
}

struct session_look session_look_at(pid_t session)
{
	DIR *proc = proc_is_own() ? opendir("/proc") : NULL;
	struct session_look look = {0};
	struct dirent *entry;
	struct proc_stat stat;
	char path[32];

	while (proc && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%.16s", entry->d_name);
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' ||
		    !proc_stat_read(path, &stat) ||
		    (stat.session != session && atoi(entry->d_name) != session))
			continue;
		look.ticks += stat.ticks;
		if (stat.threads > 1)
			count_threads(&look, path);
		else
			count_task(&look, stat.state);
	}
	if (proc)
		closedir(proc);
	return look;
}

/*
 * One open, one read: what these files hold is made anew at each.
 */

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

/*
 * Reading the kernel's lists of cpus.
 */

void cpu_list_settle(char *list, size_t size)
{
	if (strlen(list) + 1 == size)
		memcpy(list, CPU_LIST_CUT, sizeof(CPU_LIST_CUT));
}

bool cpu_list_is_known(const char *list)
{
	return isdigit((unsigned char)list[0]);
}

/* Reads "3" or "0-3", moves *list behind it and its comma; false at the end. */
static bool next_range(const char **list, unsigned long *first, unsigned long *last)
{
	char *end;

	if (!isdigit((unsigned char)**list))
		return false;
	*first = *last = strtoul(*list, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*last = strtoul(end + 1, &end, 10);
	*list = *end == ',' ? end + 1 : end;
	return true;
}

bool cpu_list_has(const char *list, unsigned cpu)
{
	unsigned long first, last;

	while (next_range(&list, &first, &last))
		if (cpu >= first && cpu <= last)
			return true;
	return false;
}

unsigned cpu_list_end(const char *list)
{
	unsigned long first, last, end = 0;

	while (next_range(&list, &first, &last))
		end = last + 1 > end ? last + 1 : end;
	return end < 1U << 20 ? (unsigned)end : 0;
}

/*
 * What cannot be had of a mask the kernel leaves out: asking for all tells.
 */

int usable_cpus(cpu_set_t *set, cpu_set_t *own, size_t size)
{
	if (sched_getaffinity(0, size, own))
		return -errno;
	memset(set, 0xff, size);
	if (sched_setaffinity(0, size, set) || sched_getaffinity(0, size, set))
		memcpy(set, own, size);
	sched_setaffinity(0, size, own);
	return 0;
}
