/* SPDX-License-Identifier: MIT */
/*
 * What /proc/PID/stat says of processes, and of the tasks of a session.
 */
#ifndef PERFABI_PROC_STAT_H
#define PERFABI_PROC_STAT_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* proc_pid_stat(5). */
struct proc_stat {
	char state;
	pid_t parent, session;
	unsigned flags;           /* the kernel's PF_... */
	unsigned long long ticks; /* of processor time, its own and its waited-for children's */
	long threads;
};

/* Of the process, or the thread, whose folder this is, such as /proc/1. False: it is gone. */
bool proc_stat_read(const char *folder, struct proc_stat *stat);

/* False: /proc is of another pid namespace, where a number is not the process that it is here. */
bool proc_is_own(void);

/* What the tasks of a session have used, and how many of them are what; zombies are no tasks. */
struct session_look {
	unsigned long long ticks;
	unsigned tasks, runnable, stopped;
};

/*
 * Looks at those whose session this is (setsid(2); its leader's id), and at the process of that id,
 * which may not have begun it yet. None where /proc is not own.
 */
struct session_look session_look_at(pid_t session);

/*
 * The file's first size - 1 bytes and a NUL behind them. Their number, or a negative errno and an
 * empty text. `folder` is an open folder that a relative path starts from, or AT_FDCWD.
 */
ssize_t read_small_at(int folder, const char *path, char *text, size_t size);
ssize_t read_small(const char *path, char *text, size_t size);

/* The same, up to the first newline, which is left out: the line's length, or a negative errno. */
ssize_t read_line(const char *path, char *text, size_t size);

/* What stands for a list that did not fit where it was to be kept. */
#define CPU_LIST_CUT "?"

/* Makes CPU_LIST_CUT of a list that has all of the `size` bytes, for the rest of it is not there.
 */
void cpu_list_settle(char *list, size_t size);

/* Whether it is a list, and whole. */
bool cpu_list_is_known(const char *list);

/* Whether a list has that cpu. What is no list has none. */
bool cpu_list_has(const char *list, unsigned cpu);

/* The first number above all of its cpus; 0: it has none. */
unsigned cpu_list_end(const char *list);

/*
 * Writes to `set`, of `size` bytes, all cpus of the caller's cpuset: a mask that is narrower can be
 * widened so far by whoever has it (sched_setaffinity(2)), and the caller's is as it was
 * afterwards. To `own`, of the same size, which it is. 0, or a negative errno: -EINVAL where the
 * kernel knows more cpus than so many bytes have.
 */
int usable_cpus(cpu_set_t *set, cpu_set_t *own, size_t size);

#endif
