/* SPDX-License-Identifier: MIT */
/*
 * Processes, and where they run.
 */
#ifndef PERFABI_RUNTIME_PROCESS_H
#define PERFABI_RUNTIME_PROCESS_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum process_kind { SLEEPING, SPINNING, ZOMBIE, GONE };

/* A child that does nothing, until its parent is gone; or one that has ended, and is reaped if it
 * is gone. */
static pid_t make_process(enum process_kind kind)
{
	const bool lives = kind == SLEEPING || kind == SPINNING;
	const pid_t parent = getpid(), pid = fork();
	siginfo_t info;

	if (!pid && lives)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!pid && lives && getppid() == parent)
		if (kind == SLEEPING)
			pause();
	if (!pid)
		_exit(0);
	if (pid > 0 && !lives &&
	    waitid(P_PID, (id_t)pid, &info, WEXITED | (kind == ZOMBIE ? WNOWAIT : 0)))
		return -1;
	return pid;
}

/* This thread runs on that cpu alone. */
static int run_on(size_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

#endif
