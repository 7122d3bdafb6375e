/* SPDX-License-Identifier: MIT */
/*
 * The system calls themselves: musl's functions of these names refuse everything.
 */
#include "machine/scheduler.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

int scheduler_get(int *priority)
{
	struct sched_param param = {0};
	long policy = syscall(SYS_sched_getscheduler, 0);

	if (policy < 0 || syscall(SYS_sched_getparam, 0, &param))
		return -1;
	*priority = param.sched_priority;
	return (int)policy;
}

int scheduler_set(int policy, int priority)
{
	const struct sched_param param = {.sched_priority = priority};

	return (int)syscall(SYS_sched_setscheduler, 0, policy, &param);
}
