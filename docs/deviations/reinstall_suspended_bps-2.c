/* SPDX-License-Identifier: MIT */
/*
 * overflow.signal.exec-breakpoint-period.root
 * a breakpoint on a function signals each sample_period-th call, and counts all
 *
 * Man page: perf_event_open(2), Overflow handling
 * Kernel: perf_fasync
 * Since: Linux 2.6.31
 * Needs (perfabi help tokens): breakpoint.counts, case.machine.quiet.slots, 
 *  case.machine.quiet.code-slots
 *
 *     cc -Wall -Wextra -Werror -pthread -o case case.c && sudo ./case
 *
 * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it
 * cannot be tried like this. Written by `perfabi show --c`.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
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

struct function {
	uint64_t address, offset;
	char path[256], build_id[48];
};

/* Signals that are alike, so many in a row. */
struct seen {
	uint64_t signo, code, count, tid, fd, band, addr, perf_data, perf_type, perf_flags;
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

static uint64_t take64(const unsigned char **p)
{
	uint64_t number;

	memcpy(&number, *p, sizeof(number));
	*p += sizeof(number);
	return number;
}

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

#if defined(__arm__)
#define PROBEABLE __attribute__((target("arm"))) /* the kernel probes no Thumb */
#else
#define PROBEABLE
#endif

/* A uprobe is put on its first instruction. */
PROBEABLE __attribute__((noinline, used)) static void probed(void)
{
	__asm__ volatile("nop\n\tnop\n\tnop\n\tnop" ::: "memory");
}

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

/* How often the task left the cpu: in what it did, and with the requests around that. */
struct left {
	uint64_t least, most;
};

enum { BUILD_ID_TEXT = 48 };

/* Looks for it in the notes of the first object, which is this program. */
static int look_for_build_id(struct dl_phdr_info *info, size_t size, void *text)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const unsigned char *at = (const void *)(info->dlpi_addr + header->p_vaddr);
		size_t left = header->p_type == PT_NOTE ? header->p_memsz : 0;
		ElfW(Nhdr) note;

		for (size_t n; left >= sizeof(note); at += n, left -= n) {
			const unsigned char *id;

			memcpy(&note, at, sizeof(note));
			id = at + sizeof(note) + (((size_t)note.n_namesz + 3) & ~(size_t)3);
			n = (size_t)(id - at) + (((size_t)note.n_descsz + 3) & ~(size_t)3);
			if (n > left)
				break;
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") || memcmp(at + sizeof(note), "GNU", sizeof("GNU")))
				continue;
			for (size_t b = 0; b < note.n_descsz && 2 * b + 2 < BUILD_ID_TEXT; b++)
				snprintf((char *)text + 2 * b, 3, "%02x", id[b]);
		}
	}
	return 1;
}

/* The build id of this program as text, in BUILD_ID_TEXT bytes, cut to fit; empty, if it was linked
 * without. */
static void build_id_of(char text[BUILD_ID_TEXT])
{
	text[0] = '\0';
	dl_iterate_phdr(look_for_build_id, text);
}

/* Where probed() is: in memory, and in the program's file. */
static struct function function_probed(void)
{
	struct function f = {.address = (uintptr_t)probed};
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to, at;
	char line[512];

	must(maps);
	while (!f.path[0] && fgets(line, sizeof(line), maps)) {
		char path[256];

		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &from, &to, &at, path) != 4 ||
		    f.address < from || f.address >= to)
			continue;
		f.offset = f.address - from + at;
		snprintf(f.path, sizeof(f.path), "%s", path);
	}
	fclose(maps);
	must(f.path[0]);
	build_id_of(f.build_id);
	return f;
}

/* As long as the newest kernel's, whatever <linux/perf_event.h> this is. */
union attr {
	struct perf_event_attr attr;
	unsigned char bytes[ATTR_ROOM];
};

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

/*
 * A handler runs while its event counts, and must add nothing to the count: each thread has a stack
 * for it that is there already, and has had one signal of each kind before.
 */
static void rehearse_signals(void)
{
	stack_t stack = {.ss_size = 1 << 17}, now;

	must(!sigaltstack(NULL, &now));
	if (now.ss_flags & SS_DISABLE) {
		stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		must(stack.ss_sp != MAP_FAILED && !sigaltstack(&stack, NULL));
	}
	for (int i = 0; i < NOTES; i++)
		__atomic_fetch_add(&noted[i].signo, 0, __ATOMIC_RELAXED);
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		must(sigismember(&handled, signo) != 1 || !raise(signo));
}

PROBEABLE static void call_probed(uint64_t times)
{
	for (uint64_t i = 0; i < times; i++)
		probed();
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

struct e_values {
	uint64_t bytes;
	uint64_t value;
};

static struct function f;
static uint64_t e;
static struct seen *signals_now;
static uint64_t signals_now_nr;
static struct e_values e_now;

/* By the read_format of the event. */
static struct e_values read_e_values(int fd, void *at, size_t size)
{
	static unsigned char buffer[65536];
	const unsigned char *p = at ? at : buffer;
	struct e_values kept = {0}, *r = &kept;
	long got = read(fd, at ? at : buffer, size);
	uint64_t n = 0;

	(void)n, (void)r;
	answer("read", got, 0, "success");
	kept.bytes = (uint64_t)got;
	if (got) {
		r->value = take64(&p);
	}
	(void)p;
	return kept;
}

int main(void)
{
	alarm(300);
	must_be_root();
	must_have(opens_reach_kernel(), "perf_event_open");
	must_have(breakpoint_counts(), "breakpoint.counts");

	/* {"function":"probed","bind":"f"} */
	f = function_probed();

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_BREAKPOINT,
			.size = ATTR_SIZE,
			.config = 0,
			.sample_period = 100,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.bp_type = HW_BREAKPOINT_X,
			.bp_addr = f.address,
			.bp_len = 8,
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"signals":"SIGRTMIN","on":"e"} */
	note_signals(SIGRTMIN, 0, 0, 0);
	signal_overflows((int)e, SIGRTMIN, true, false);

	/* {"workload":"call","times":1000,"counted":"e"} */
	rehearse_signals();
	must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	must(!ioctl((int)e, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
	call_probed(1000);
	must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));

	/* {"signals-seen":true,"expect":[{"code":"POLL_IN","count":10}]} */
	signals_now = signals_seen(&signals_now_nr);
	expect(signals_now_nr == 1, signals_now_nr);
	expect(signals_now[0].code == (uint64_t)(POLL_IN), signals_now[0].code);
	expect(signals_now[0].count == 10, signals_now[0].count);

	/* {"read":"e","expect":{"value":1000}} */
	e_now = read_e_values((int)e, NULL, 65536);
	expect(e_now.value == 1000, e_now.value);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
