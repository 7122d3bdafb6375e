/* SPDX-License-Identifier: MIT */
/*
 * Most limits bound what a case can do to the machine. Those on files and locked memory are what
 * cases are about: they are raised where they can be, so that results do not hang on the shell.
 */
#include "limits.h"

#include <linux/capability.h>

enum { FILE_BYTES = 4 << 20 };

static void bound(__rlimit_resource_t resource, rlim_t most)
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

/* Cases open hundreds of events: the soft limit may be less than that. */
static void raise_files(void)
{
	struct rlimit limit = {LIMITS_FILES, LIMITS_FILES};

	if (!setrlimit(RLIMIT_NOFILE, &limit) || getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max < LIMITS_FILES ? limit.rlim_max : LIMITS_FILES;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* A signal that cannot be queued comes as one that says nothing: SIGIO, of no event. */
static void raise_signals(void)
{
	struct rlimit limit = {LIMITS_SIGNALS, LIMITS_SIGNALS}, was;

	if (getrlimit(RLIMIT_SIGPENDING, &was) || was.rlim_cur >= LIMITS_SIGNALS)
		return;
	if (was.rlim_max >= LIMITS_SIGNALS)
		limit.rlim_max = was.rlim_max;
	if (setrlimit(RLIMIT_SIGPENDING, &limit)) {
		was.rlim_cur = was.rlim_max;
		setrlimit(RLIMIT_SIGPENDING, &was);
	}
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

void limits_set(unsigned seconds)
{
	bound(RLIMIT_CORE, 0);
	bound(RLIMIT_CPU, seconds + 1);
	bound(RLIMIT_FSIZE, FILE_BYTES);
	raise_files();
	raise_memlock();
	raise_signals();
#if !defined(SANITIZED) /* the sanitizers' shadow memory is larger */
	bound(RLIMIT_AS, LIMITS_ADDRESS_SPACE);
#endif
}
