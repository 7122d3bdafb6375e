/* SPDX-License-Identifier: MIT */
/*
 * Processes, where they run, and debug registers by ptrace(2), as gdb uses it.
 */
#ifndef PERFABI_RUNTIME_PROCESS_H
#define PERFABI_RUNTIME_PROCESS_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
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

/*
 * A child stores to a word so many times, which its parent watches. How many of the stores are
 * reported, or -1 with errno: ENOSYS where this program knows no debug registers.
 */
static int watched_stores(unsigned count)
{
#if defined(__x86_64__) || defined(__i386__)
	enum { ENABLED = 1, ON_STORES = 1 << 16, OF_FOUR_BYTES = 3 << 18 };
	static volatile uint32_t word;
	size_t registers = offsetof(struct user, u_debugreg);
	int status, seen = 0, err = 0;
	pid_t pid = fork();

	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(errno);
		raise(SIGSTOP);
		for (unsigned i = 0; i < count; i++)
			word = i;
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	if (WIFSTOPPED(status) && (ptrace(PTRACE_POKEUSER, pid, registers, &word) ||
				   ptrace(PTRACE_POKEUSER, pid, registers + 7 * sizeof(long),
					  ENABLED | ON_STORES | OF_FOUR_BYTES)))
		err = errno;
	while (!err && WIFSTOPPED(status)) {
		seen += WSTOPSIG(status) == SIGTRAP;
		if (ptrace(PTRACE_CONT, pid, NULL, NULL) || waitpid(pid, &status, 0) < 0)
			err = errno;
	}
	if (err) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	} else if (WIFEXITED(status)) {
		err = WEXITSTATUS(status);
	}
	errno = err;
	return err ? -1 : seen;
#else
	(void)count;
	errno = ENOSYS;
	return -1;
#endif
}

#endif
