/* SPDX-License-Identifier: MIT */
/*
 * An event is a file, and /proc says who has it open or mapped. One that is on its way through a
 * socket, or in a BPF map, is not seen.
 */
#include "machine/other_events.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/say.h"
#include "machine/proc.h"

enum { STEPS_MAX = 1000 }; /* from a process to the first one, with some that begin anew */

static const char EVENT[] = "anon_inode:[perf_event]";

static bool is_event(int folder, const char *name)
{
	char target[sizeof(EVENT) + 1];
	ssize_t n = readlinkat(folder, name, target, sizeof(target));

	return n == sizeof(EVENT) - 1 && !memcmp(target, EVENT, sizeof(EVENT) - 1);
}

/* Whether an event is among a folder's descriptors; *count of them are there. */
static bool is_open(const char *path, size_t *count)
{
	struct dirent *entry;
	bool found = false;
	DIR *dir = opendir(path);

	*count = 0;
	for (; dir && !found && (entry = readdir(dir)); ++*count)
		found = is_event(dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* An event that is mapped stays when its descriptor is closed. */
static bool is_mapped(const char *path)
{
	char *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *f = fopen(path, "re");

	while (f && !found && getline(&line, &size, f) > 0)
		found = strstr(line, EVENT) != NULL;
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* `folder`: of a process, or a thread. *is_empty: it has no file open any more. */
static bool holds_event(const char *folder, bool *is_empty)
{
	char path[700];
	size_t count;
	bool found;

	snprintf(path, sizeof(path), "%s/fd", folder);
	found = is_open(path, &count);
	*is_empty = count <= 2; /* . and .. */
	snprintf(path, sizeof(path), "%s/maps", folder);
	return found || is_mapped(path);
}

/* Of a process whose first thread has ended, the others have the files and the memory. */
static bool has_event(const char *pid)
{
	char path[600];
	struct dirent *entry;
	bool is_empty, found;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.255s", pid);
	found = holds_event(path, &is_empty);
	if (found || !is_empty)
		return found;
	snprintf(path, sizeof(path), "/proc/%.255s/task", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%.255s/task/%.255s", pid, entry->d_name);
		found = entry->d_name[0] != '.' && holds_event(path, &is_empty);
	}
	if (dir)
		closedir(dir);
	return found;
}

bool other_events_seen(uint64_t capabilities)
{
	/* The first pid namespace has this number since there are numbers (PROC_PID_INIT_INO). */
	static const char first[] = "pid:[4026531836]";
	char target[sizeof(first) + 8];
	ssize_t n = readlink("/proc/self/ns/pid", target, sizeof(target));

	/* The files of root's, and of who has more capabilities, take CAP_SYS_PTRACE. */
	return !geteuid() && (capabilities >> CAP_SYS_PTRACE & 1) && n == sizeof(first) - 1 &&
	       !memcmp(target, first, sizeof(first) - 1);
}

/* 0: of the first process; -1: it is gone. */
static pid_t parent_of(pid_t pid)
{
	struct proc_stat stat;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return proc_stat_read(path, &stat) ? stat.parent : -1;
}

/*
 * Whether a process is the runner, or descends from it, by who its parents are: a name anybody can
 * have. What a case leaves behind has the runner for its parent, which is a subreaper; so where one
 * on the way goes meanwhile, the way is another. A process that is gone itself is nobody's.
 */
static bool is_ours(pid_t pid, pid_t runner)
{
	pid_t at = pid;

	for (int left = STEPS_MAX; at > 0 && at != runner && left > 0; left--) {
		pid_t parent = parent_of(at);

		if (parent < 0 && at == pid)
			return true;
		at = parent < 0 ? pid : parent;
	}
	return at == runner;
}

bool other_events(pid_t runner, char *who, size_t size)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (proc && !found && (entry = readdir(proc))) {
		char path[300], name[32], shown[4 * sizeof(name)];

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || !has_event(entry->d_name) ||
		    is_ours((pid_t)atol(entry->d_name), runner))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		read_line(path, name, sizeof(name));
		snprintf(who, size, "%s, process %.12s, has events",
			 say_harmless(name, shown, sizeof(shown)), entry->d_name);
		found = true;
	}
	if (proc)
		closedir(proc);
	return found;
}
