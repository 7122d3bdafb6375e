/* SPDX-License-Identifier: MIT */
/*
 * perf's sysctls: the files, and whether they are still as this run has left them.
 */
#ifndef PERFABI_SYSCTL_H
#define PERFABI_SYSCTL_H

#include <stdbool.h>
#include <stddef.h>

enum sysctl {
	SYSCTL_PARANOID,
	SYSCTL_MAX_SAMPLE_RATE,
	SYSCTL_MLOCK_KB,
	SYSCTL_MAX_STACK,
	SYSCTL_MAX_CONTEXTS,
	SYSCTL_CPU_TIME_MAX_PERCENT,
	SYSCTL_USER_ACCESS,
	SYSCTLS
};

/* The value of one that the kernel does not have. */
enum { SYSCTL_ABSENT = -1000000 };

/* Their names below /proc/sys/kernel/; NULL-terminated. */
extern const char *const sysctl_names[];

/* 0 with *value, or a negative errno: there is none, or it cannot be read. */
int sysctl_read(const char *name, long *value);

/*
 * 0 or the kernel's errno, negative. perf_event_max_sample_rate is read-only while
 * perf_cpu_time_max_percent is 0 or 100 (perf_event_max_sample_rate_handler): that is moved for the
 * write, and put back.
 */
int sysctl_write(const char *name, long value);

/* Some of them, by their places in sysctl_names. */
struct sysctl_set {
	bool has[SYSCTLS];
};

bool sysctl_set_is_empty(const struct sysctl_set *set);

/*
 * What they were when they were last looked at, and which of them were written since. A write is
 * told by inotify(7) where it was to the same mount of /proc: one that is undone again before the
 * next look shows in no value.
 */
struct sysctl_watch {
	int files[SYSCTLS]; /* open, or -1 */
	long values[SYSCTLS];
	int notices;         /* of inotify, or -1 */
	int notice[SYSCTLS]; /* which of its watches is about it, or -1 */
	bool written[SYSCTLS];
};

void sysctl_watch_begin(struct sysctl_watch *watch);
void sysctl_watch_end(struct sysctl_watch *watch);

/* Takes those of the set as they are now: this run has changed them. */
void sysctl_watch_accept(struct sysctl_watch *watch, const struct sysctl_set *set);

/*
 * Whether one that is not in `but` has changed or was written since: the first,
 * "perf_event_paranoid was 2 and is -1" or "perf_event_paranoid was written, and is 2 again", in
 * `what`. They are as they are now from then on. *by_kernel: only the sample rate is lower, which
 * the kernel lowers itself when interrupts take long (perf_sample_event_took()).
 */
bool sysctl_watch_moved(struct sysctl_watch *watch, const struct sysctl_set *but, char *what,
			size_t size, bool *by_kernel);

#endif
