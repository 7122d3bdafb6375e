/* SPDX-License-Identifier: MIT */
/*
 * Debug registers without perf_event_open(2): ptrace(2), as gdb uses it.
 */
#ifndef PERFABI_RUNTIME_DEBUGGER_H
#define PERFABI_RUNTIME_DEBUGGER_H

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

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
