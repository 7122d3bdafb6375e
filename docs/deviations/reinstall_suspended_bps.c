/* SPDX-License-Identifier: MIT */
/*
 * overflow.signal.two-at-once.root
 * two events each signal their own overflows
 *
 * Man page: perf_event_open(2), Overflow handling
 * Kernel: perf_fasync
 * Since: Linux 2.6.31
 * Needs (perfabi help tokens): breakpoint.counts, case.machine.quiet.two-slots
 *
 *     cc -Wall -Wextra -Werror -pthread -o case case.c && sudo ./case
 *
 * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it
 * cannot be tried like this. Written by `perfabi show --c`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* sizeof(struct perf_event_attr) of Linux 7.3, and the room that it is passed in. */
enum { ATTR_SIZE = 144, ATTR_ROOM = ATTR_SIZE };

/* Signals that are alike, so many in a row. */
struct seen {
	uint64_t signo, code, count, tid, fd, band, addr, perf_data, perf_type, perf_flags;
};

static void must_be_root(void)
{
	if (!geteuid())
		return;
	printf("SKIP: this is about root\n");
	exit(4);
}

/* What the case needs: where it is missing, nothing can be said of the kernel. */
static void must_have(int is_there, const char *token)
{
	if (is_there)
		return;
	printf("SKIP: the case needs %s (perfabi help tokens)\n", token);
	exit(4);
}

/* The kernel looks at the flags first, and says EINVAL to such; a seccomp filter says something else. */
static int opens_reach_kernel(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0UL) < 0 && errno == EINVAL;
}

/* Whether a breakpoint counts a store; one that does not open is for the case to judge, unless the
 * processor has none. */
static int breakpoint_counts(void)
{
	static volatile uint32_t word;
	struct perf_event_attr asked = {.type = PERF_TYPE_BREAKPOINT, .size = PERF_ATTR_SIZE_VER1,
				       .bp_type = HW_BREAKPOINT_W, .bp_addr = (uintptr_t)&word,
				       .bp_len = 4, .exclude_kernel = 1, .exclude_hv = 1};
	long fd = syscall(SYS_perf_event_open, &asked, 0, -1, -1, 0UL);
	uint64_t count = 0;

	if (fd < 0)
		return errno != ENODEV && errno != ENOENT;
	word = 1;
	if (read((int)fd, &count, sizeof(count)) != sizeof(count))
		count = 0;
	close((int)fd);
	return count == 1;
}

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

/* The address of so many zero bytes. */
static uint64_t buffer_of(size_t size, int prot)
{
	void *at = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(at != MAP_FAILED);
	return (uintptr_t)at;
}

/* As long as the newest kernel's, whatever <linux/perf_event.h> this is. */
union attr {
	struct perf_event_attr attr;
	unsigned char bytes[ATTR_ROOM];
};

/* The kernel did not keep its word. */
static void fail(int err)
{
	(void)err;
	printf("FAIL\n");
	fflush(NULL);
	exit(1);
}

/* Says what a call did, which must be what was expected; what it returned. */
static long answer(const char *call, long ret, int expected, const char *name)
{
	int got = ret < 0 ? errno : 0;

	printf("%s\n\texpected %s, got %s\n", call, name, got ? strerror(got) : "success");
	if (got != expected)
		fail(got);
	return ret;
}

/* A call that must succeed (0), or fail with that errno. */
#define expect_errno(call, expected) answer(#call, (call), expected, expected ? #expected : "success")

static long open_event(const void *attr, int pid, int cpu, int group_fd, unsigned long flags)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

enum { NOTES = 4096 };

/* One signal, as the handler found it. */
struct noted {
	int signo, code, fd;
	long band;
	uint64_t addr;
	int tid;
	unsigned char perf[24]; /* si_perf_data, si_perf_type, si_perf_flags */
};

static struct noted noted[NOTES + 1]; /* the last one for what is rehearsed */
static volatile unsigned noted_count;
static sigset_t handled;

/* What the handler does to the event that signals: two requests of ioctl(2), or none. */
static struct {
	unsigned long first, then;
	long argument;
} reaction;

static uint64_t thread_id(void)
{
	return (uint64_t)syscall(SYS_gettid);
}

static void note_signal(int signo, siginfo_t *info, void *context)
{
	int was = errno, is_rehearsal = info->si_code == SI_TKILL;
	unsigned at = __atomic_fetch_add(&noted_count, is_rehearsal ? 0 : 1, __ATOMIC_RELAXED);
	struct noted *to = &noted[is_rehearsal ? NOTES : at];

	(void)context;
	if (!is_rehearsal && at >= NOTES)
		_exit(3);
	*to = (struct noted){.signo = signo, .code = info->si_code, .fd = info->si_fd,
			     .band = info->si_band, .tid = (int)thread_id()};
	if (signo == SIGTRAP) {
		to->addr = (uintptr_t)info->si_addr;
		memcpy(to->perf, (const char *)&info->si_addr + sizeof(info->si_addr),
		       sizeof(to->perf));
	} else if (reaction.first) {
		ioctl(is_rehearsal ? -1 : info->si_fd, reaction.first, 0L);
		ioctl(is_rehearsal ? -1 : info->si_fd, reaction.then, reaction.argument);
	}
	errno = was;
}

/* From now on that signal is noted. */
static void note_signals(int signo, unsigned long first, unsigned long then, long argument)
{
	struct sigaction action = {.sa_sigaction = note_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	noted_count = 0;
	reaction.first = first;
	reaction.then = then;
	reaction.argument = argument;
	must(!sigaction(signo, &action, NULL));
	sigaddset(&handled, signo);
}

/* Overflows of the event become that signal. */
static void signal_overflows(int fd, int signo, bool by_number, bool to_process)
{
	struct f_owner_ex to = {.type = to_process ? F_OWNER_PID : F_OWNER_TID,
				.pid = to_process ? getpid() : (int)thread_id()};

	must(!fcntl(fd, F_SETOWN_EX, &to));
	must(!by_number || !fcntl(fd, F_SETSIG, signo));
	must(!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC));
}

#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

static struct seen seen_as(const struct noted *n)
{
	struct seen seen = {.signo = (uint64_t)n->signo, .code = (uint64_t)n->code,
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

/* Those noted since; alike ones in a row are one. */
static struct seen *signals_seen(uint64_t *nr)
{
	struct seen *list = malloc((NOTES + 1) * sizeof(*list));
	unsigned n = noted_count;

	must(list);
	*nr = 0;
	for (unsigned i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && !memcmp(&noted[i], &noted[i + run], sizeof(*noted));)
			run++;
		list[*nr] = seen_as(&noted[i]);
		list[(*nr)++].count = run;
	}
	noted_count = 0;
	memset(noted, 0, sizeof(noted));
	return list;
}

static void compared(const char *condition, int holds, uint64_t got)
{
	printf("expected %s\n\tgot %llu (%#llx)\n", condition, (unsigned long long)got,
	       (unsigned long long)got);
	if (holds)
		return;
	fail(0);
}

/* A promise about a value. */
#define expect(condition, got) compared(#condition, (condition) != 0, (uint64_t)(got))

/* The case. */

static uint64_t w;
static uint64_t e;
static uint64_t f;
static uint64_t value_1;
static uint64_t value_2;
static struct seen *signals_now;
static uint64_t signals_now_nr;

int main(void)
{
	alarm(300);
	must_be_root();
	must_have(opens_reach_kernel(), "perf_event_open");
	must_have(breakpoint_counts(), "breakpoint.counts");

	/* {"buffer":4096,"bind":"w"} */
	w = buffer_of(4096, PROT_READ | PROT_WRITE);

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_BREAKPOINT,
			.size = ATTR_SIZE,
			.config = 0,
			.sample_period = 1,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.bp_type = HW_BREAKPOINT_W,
			.bp_addr = w,
			.bp_len = 8,
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_BREAKPOINT,
			.size = ATTR_SIZE,
			.config = 0,
			.sample_period = 2,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.bp_type = HW_BREAKPOINT_W,
			.bp_addr = w+8,
			.bp_len = 8,
		}};
		f = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"signals":"SIGRTMIN","on":"e"} */
	note_signals(SIGRTMIN, 0, 0, 0);
	signal_overflows((int)e, SIGRTMIN, true, false);

	/* {"signals":"SIGRTMIN","on":"f"} */
	note_signals(SIGRTMIN, 0, 0, 0);
	signal_overflows((int)f, SIGRTMIN, true, false);

	/* {"ioctl":"enable","on":"e"} */
	value_1 = 0;
	expect_errno(ioctl((int)e, PERF_EVENT_IOC_ENABLE, &value_1), 0);

	/* {"ioctl":"enable","on":"f"} */
	value_2 = 0;
	expect_errno(ioctl((int)f, PERF_EVENT_IOC_ENABLE, &value_2), 0);

	/* {"workload":"store","at":"$w","times":3} */
	for (uint64_t i = 0; i < 3; i++)
		*(volatile uint64_t *)(uintptr_t)(w) = (uint64_t)i;

	/* {"workload":"store","at":"$w+8","times":6} */
	for (uint64_t i = 0; i < 6; i++)
		*(volatile uint64_t *)(uintptr_t)(w+8) = (uint64_t)i;

	/* {"signals-seen":true,"expect":[{"fd":"$e","count":3},{"fd":"$f","count":3}]} */
	signals_now = signals_seen(&signals_now_nr);
	expect(signals_now_nr == 2, signals_now_nr);
	expect(signals_now[0].fd == (uint64_t)e, signals_now[0].fd);
	expect(signals_now[0].count == 3, signals_now[0].count);
	expect(signals_now[1].fd == (uint64_t)f, signals_now[1].fd);
	expect(signals_now[1].count == 3, signals_now[1].count);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
