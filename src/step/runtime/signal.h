/* SPDX-License-Identifier: MIT */
/*
 * Signals of events that overflow, and poll(2) and its like.
 *
 * A signal's handler runs while its event counts, and must add nothing to the count. It has a stack
 * of its own, so that each signal touches the same memory wherever it comes; and before an event
 * counts, rehearse_signals() sends this thread one of each kind that the case handles. What such a
 * signal touches, kernel, C library and handler alike, is there from then on.
 */
#ifndef PERFABI_RUNTIME_SIGNAL_H
#define PERFABI_RUNTIME_SIGNAL_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "step/runtime/signals.h"

/* One signal, as the handler found it. */
struct noted {
	int signo, code, fd;
	long band;
	uint64_t addr;
	pid_t tid;
	unsigned char perf[24]; /* si_perf_data, si_perf_type, si_perf_flags */
};

/*
 * What the handler writes: it is given nothing that would lead it anywhere else. A child of the
 * case begins with a copy. It begins a page where pages have 4K, so that what nobody readied shows
 * there wherever the linker puts it. The last one is for what is rehearsed.
 */
static struct noted notes[SIGNALS_MAX + 1] __attribute__((aligned(4096)));

static volatile unsigned noted_count;

static sigset_t handled;

/* What the handler does to the event that signals: two requests of ioctl(2), or none. */
static struct {
	unsigned long first, then;
	long argument;
} reaction;

static void note_signal(int signo, siginfo_t *info, void *context)
{
	const bool is_rehearsal = info->si_code == SI_TKILL;
	const int was = errno, fd = is_rehearsal ? -1 : info->si_fd;
	unsigned at = __atomic_fetch_add(&noted_count, is_rehearsal ? 0 : 1, __ATOMIC_RELAXED);

	(void)context;
	if (is_rehearsal)
		at = SIGNALS_MAX;
	else if (at >= SIGNALS_MAX)
		_exit(EXIT_SIGNALS); /* whoever is interrupted may never get on */
	notes[at] = (struct noted){.signo = signo,
				   .code = info->si_code,
				   .fd = info->si_fd,
				   .band = info->si_band,
				   .tid = gettid()};
	if (signo == SIGTRAP) {
		notes[at].addr = (uintptr_t)info->si_addr;
		/* Behind si_addr, whatever this libc's header knows: <asm-generic/siginfo.h>,
		 * _perf. */
		memcpy(notes[at].perf, (const char *)&info->si_addr + sizeof(info->si_addr),
		       sizeof(notes[at].perf));
	} else if (reaction.first) {
		syscall(SYS_ioctl, fd, reaction.first, 0L);
		syscall(SYS_ioctl, fd, reaction.then, reaction.argument);
	}
	errno = was;
}

/* From now on that signal is noted, and the handler makes these requests of its event. */
static int note_signals(int signo, unsigned long first, unsigned long then, long argument)
{
	struct sigaction action = {.sa_sigaction = note_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	noted_count = 0;
	reaction.first = first;
	reaction.then = then;
	reaction.argument = argument;
	sigaddset(&handled, signo);
	return sigaction(signo, &action, NULL);
}

enum owner { OWNER_THREAD, OWNER_PROCESS };

/* Overflows of the event become that signal. */
static int signal_overflows(int fd, int signo, bool by_number, enum owner owner)
{
	struct f_owner_ex to = {.type = owner == OWNER_PROCESS ? F_OWNER_PID : F_OWNER_TID,
				.pid = owner == OWNER_PROCESS ? getpid() : gettid()};

	if (fcntl(fd, F_SETOWN_EX, &to) || (by_number && fcntl(fd, F_SETSIG, signo)) ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC))
		return -1;
	return 0;
}

/* How many there are since they were last looked at. */
static unsigned count_signals(void)
{
	return __atomic_load_n(&noted_count, __ATOMIC_RELAXED);
}

/*
 * Each thread has its stack; a child of the case has its copy. It has room for the frame that the
 * kernel writes, of which AT_MINSIGSTKSZ (51) tells the size, and for the handler.
 */
static int ready_stack(void)
{
	stack_t stack = {.ss_size = (1 << 16) + getauxval(51)}, now;

	if (sigaltstack(NULL, &now))
		return -1;
	if (!(now.ss_flags & SS_DISABLE)) {
		memset(now.ss_sp, 0, now.ss_size);
		return 0;
	}
	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) ? -1 : 0;
}

/* Before an event counts: signals that come then touch nothing new. */
static int rehearse_signals(void)
{
	bool is_ready = false;

	for (int signo = 1; signo <= SIGRTMAX; signo++) {
		if (sigismember(&handled, signo) != 1)
			continue;
		if (!is_ready && ready_stack())
			return -1;
		/* Where they are noted may be new, or shared with a child until one of them writes.
		 */
		for (size_t i = 0; !is_ready && i < SIGNALS_MAX; i++)
			__atomic_fetch_add(&notes[i].signo, 0, __ATOMIC_RELAXED);
		is_ready = true;
		if (raise(signo))
			return -1;
	}
	return 0;
}

/* Signals that are alike, so many in a row. */
struct seen {
	uint64_t signo, code, count, tid, fd, band, addr, perf_data, perf_type, perf_flags;
};

static struct seen seen_as(const struct noted *n, uint64_t count)
{
	struct seen seen = {.signo = (uint64_t)n->signo,
			    .code = (uint64_t)n->code,
			    .count = count,
			    .tid = (uint64_t)n->tid};
	uint32_t type, flags;

	if (n->signo != SIGTRAP) {
		seen.fd = (uint64_t)n->fd;
		seen.band = (uint64_t)n->band;
		return seen;
	}
	seen.addr = n->addr;
	memcpy(&seen.perf_data, n->perf, sizeof(long));
	memcpy(&type, n->perf + sizeof(long), 4);
	memcpy(&flags, n->perf + sizeof(long) + 4, 4);
	seen.perf_type = type;
	seen.perf_flags = flags;
	return seen;
}

/* Those noted since, a list that is to be freed; NULL without memory. */
static struct seen *signals_seen(uint64_t *nr)
{
	const unsigned n = noted_count < SIGNALS_MAX ? noted_count : SIGNALS_MAX;
	struct seen *list = malloc((n + 1) * sizeof(*list));

	*nr = 0;
	for (unsigned i = 0, run; list && i < n; i += run) {
		for (run = 1; i + run < n && !memcmp(&notes[i], &notes[i + run], sizeof(*notes));)
			run++;
		list[(*nr)++] = seen_as(&notes[i], run);
	}
	noted_count = 0;
	memset(notes, 0, sizeof(notes));
	return list;
}

static int by_poll(int fd, unsigned events, int ms, uint64_t *revents)
{
	struct pollfd one = {.fd = fd, .events = (short)events};
	int n;

	while ((n = poll(&one, 1, ms)) < 0 && errno == EINTR)
		;
	*revents = (unsigned short)one.revents;
	return n;
}

/* One epoll for all the polls of an event: to be added to one takes a pending wakeup away. */
static int by_epoll(int fd, unsigned events, int ms, uint64_t *revents)
{
	static int epolls[1024];
	struct epoll_event one = {.events = events}, got = {0};
	int n;

	if (fd < 0 || fd >= 1024) {
		errno = EBADF;
		return -1;
	}
	if (!epolls[fd])
		epolls[fd] = epoll_create1(EPOLL_CLOEXEC);
	/* One that was closed has left it. */
	if (epoll_ctl(epolls[fd], EPOLL_CTL_ADD, fd, &one) && errno != EEXIST)
		return -1;
	while ((n = epoll_wait(epolls[fd], &got, 1, ms)) < 0 && errno == EINTR)
		;
	*revents = n > 0 ? got.events : 0;
	return n;
}

static int by_select(int fd, unsigned events, int ms, uint64_t *revents)
{
	struct timeval t = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
	fd_set in;
	int n;

	(void)events;
	if (fd < 0 || fd >= FD_SETSIZE) {
		errno = EINVAL;
		return -1;
	}
	FD_ZERO(&in);
	FD_SET(fd, &in);
	n = select(fd + 1, &in, NULL, NULL, &t);
	*revents = n > 0 && FD_ISSET(fd, &in) ? POLLIN : 0;
	return n;
}

#endif
