/* SPDX-License-Identifier: MIT */
/*
 * Which files a step may read and write. Case files are trusted like programs; a slip in one is not
 * to reach further than perf does: perf's sysctls, tracefs, the PMUs in sysfs, the case's own
 * cgroup.
 */
#ifndef PERFABI_STEP_PATH_H
#define PERFABI_STEP_PATH_H

#include "step/argument.h"

/* The path of a file that is read: char []. While the case is compiled, what stands before the
 * first $ decides. */
extern const struct argument_type argument_path_read;
/* Of one that is written: no PMU's. */
extern const struct argument_type argument_path_written;
/* A file to be written by its path, or an event by its name. */
struct write_target {
	uint64_t fd;
	char path[256]; /* empty: it is the fd */
};
extern const struct argument_type argument_write_target;

#endif
