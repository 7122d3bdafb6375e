/* SPDX-License-Identifier: MIT */
/*
 * Most limits bound what a case can do to the machine. Those on files and locked memory are what
 * cases are about: they are raised where they can be, so that results do not hang on the shell.
 */
#include "machine/limits.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void bound(rlimit_resource resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	if (limit.rlim_cur > most)
		limit.rlim_cur = most;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	setrlimit(resource, &limit);
}

/* To `wanted`, or as near to that as the hard limit lets us. */
static void raise_to(rlimit_resource resource, rlim_t wanted)
{
	struct rlimit limit = {wanted, wanted}, was;

	if (getrlimit(resource, &was) || was.rlim_cur >= wanted)
		return;
	if (was.rlim_max >= wanted)
		limit.rlim_max = was.rlim_max;
	if (setrlimit(resource, &limit)) {
		was.rlim_cur = was.rlim_max;
		setrlimit(resource, &was);
	}
}

static void set_to(rlimit_resource resource, rlim_t wanted)
{
	raise_to(resource, wanted);
	bound(resource, wanted);
}

/* The hard one alone, for `limit` of a step; the soft one is what users have. */
static void raise_memlock(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	limit.rlim_max = RLIM_INFINITY;
	setrlimit(RLIMIT_MEMLOCK, &limit);
}

rlim_t limits_hard(rlim_t hard, rlim_t wanted, uint64_t capabilities)
{
	return capabilities >> CAP_SYS_RESOURCE & 1 ? wanted : hard < wanted ? hard : wanted;
}

unsigned limits_processes(unsigned wanted)
{
	pid_t first = 0, pid = -1, parent = getpid();
	unsigned count = 0;

	while (count < wanted && (pid = fork()) > 0) {
		if (!count)
			first = pid;
		setpgid(pid, first); /* one group, which is killed as a whole */
		count++;
	}
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent) /* it may have died before */
			pause();
		_exit(0);
	}
	if (first)
		kill(-first, SIGKILL);
	for (unsigned i = 0; i < count; i++)
		while (waitpid(-first, NULL, 0) < 0 && errno == EINTR)
			;
	return count;
}

void limits_raise_stack(void)
{
	raise_to(RLIMIT_STACK, LIMITS_STACK);
}

void limits_set(unsigned seconds)
{
	bound(RLIMIT_CORE, 0);
	bound(RLIMIT_CPU, seconds + 1);
	set_to(RLIMIT_FSIZE, LIMITS_FILE_BYTES);
	set_to(RLIMIT_NOFILE, LIMITS_FILES); /* of events, hundreds */
	raise_memlock();
	/* One that cannot be queued comes as one that says nothing: SIGIO, of no event. */
	raise_to(RLIMIT_SIGPENDING, LIMITS_SIGNALS);
#if !defined(SANITIZED) /* the sanitizers' shadow memory is larger */
	bound(RLIMIT_AS, LIMITS_ADDRESS_SPACE);
#endif
}
