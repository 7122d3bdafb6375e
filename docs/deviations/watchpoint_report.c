/* SPDX-License-Identifier: MIT */
/*
 * count.breakpoint.kernel-writes-counted.root
 * a breakpoint without exclude_kernel counts stores by the kernel into user memory
 *
 * Man page: perf_event_open(2), bp_type, bp_addr, bp_len
 * Kernel: perf_bp_event
 * Since: Linux 2.6.33
 * Needs (perfabi help tokens): breakpoint, case.machine.quiet.slots, breakpoint.counts
 *
 *     cc -Wall -Wextra -Werror -pthread -o case case.c && sudo ./case
 *
 * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it
 * cannot be tried like this. Written by `perfabi show --c`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
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

/* Whether there is such a file; * stands for any name. */
static int file_is_there(const char *path)
{
	return !glob(path, 0, NULL, &(glob_t){0});
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

/* A call that must succeed (0), or fail with that errno. */
#define expect_errno(call, expected) answer(#call, (call), expected, expected ? #expected : "success")

static long open_event(const void *attr, int pid, int cpu, int group_fd, unsigned long flags)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
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

static uint64_t w;
static uint64_t e;
static uint64_t value_1;
static uint64_t d;
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
	must_have(file_is_there("/sys/bus/event_source/devices/breakpoint") || breakpoint_counts(), "breakpoint");
	must_have(breakpoint_counts(), "breakpoint.counts");

	/* {"buffer":4096,"bind":"w"} */
	w = buffer_of(4096, PROT_READ | PROT_WRITE);

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_BREAKPOINT,
			.size = ATTR_SIZE,
			.disabled = 1,
			.exclude_kernel = 0,
			.exclude_hv = 0,
			.bp_type = HW_BREAKPOINT_W,
			.bp_addr = w,
			.bp_len = 8,
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"ioctl":"enable","on":"e"} */
	value_1 = 0;
	expect_errno(ioctl((int)e, PERF_EVENT_IOC_ENABLE, &value_1), 0);

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = ATTR_SIZE,
			.config = PERF_COUNT_SW_DUMMY,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
		}};
		d = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"ioctl":"id","on":"d","address":"$w"} */
	expect_errno(ioctl((int)d, PERF_EVENT_IOC_ID, (unsigned long)w), 0);

	/* {"read":"e","expect":{"value":{"between":[1,8]}}} */
	e_now = read_e_values((int)e, NULL, 65536);
	expect(e_now.value >= 1 && e_now.value <= 8, e_now.value);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
