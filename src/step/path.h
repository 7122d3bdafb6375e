/* SPDX-License-Identifier: MIT */
/*
 * Which files a step may read and write. Case files are trusted like programs; a slip in one is not
 * to reach further than perf does.
 */
#ifndef PERFABI_STEP_PATH_H
#define PERFABI_STEP_PATH_H

#include "step/step.h"

enum step_access { STEP_READS, STEP_WRITES };

/*
 * The verb's path with its $names put in: of perf's sysctls, tracefs, the PMUs in sysfs or the
 * case's own cgroup. 0, or -EINVAL with the step's error filled. While the case is checked, what
 * stands before the first $ decides.
 */
int step_path(struct step *s, enum step_access access, char *out, size_t size);

#endif
