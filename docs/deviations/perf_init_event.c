/* SPDX-License-Identifier: MIT */
/*
 * pmu.type.unknown-in-config.root.hardware
 * a PMU in the upper half of config that is not registered is refused
 *
 * Man page: perf_event_open(2), type; ERRORS, ENOENT
 * Kernel: perf_init_event
 * Since: Linux 5.13
 * Needs (perfabi help tokens): kernel>=5.13
 *
 *     cc -Wall -Wextra -Werror -pthread -o case case.c && sudo ./case
 *
 * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it
 * cannot be tried like this. Written by `perfabi show --c`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* sizeof(struct perf_event_attr) of Linux 7.3, and the room that it is passed in. */
enum { ATTR_SIZE = 144, ATTR_ROOM = ATTR_SIZE };

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

/* A kernel version as a number that orders as it does; NULL: this kernel's. */
static uint64_t version_of(const char *text)
{
	unsigned major = 0, minor = 0, patch = 0;
	struct utsname u = {0};

	if (!text)
		uname(&u);
	sscanf(text ? text : u.release, "%u.%u.%u", &major, &minor, &patch);
	return (uint64_t)major << 32 | (uint64_t)(minor & 0xffff) << 16 | (patch & 0xffff);
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

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

/* The case. */

int main(void)
{
	alarm(300);
	must_be_root();
	must_have(opens_reach_kernel(), "perf_event_open");
	must_have(version_of(NULL) >= version_of("5.13"), "kernel>=5.13");

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_HARDWARE,
			.size = ATTR_SIZE,
			.config = UINT64_C(0x7ffffffe00000000),
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
		}};
		union attr before = attr;
		expect_errno(open_event(&attr, 0, -1, -1, 0), ENOENT);
		expect(!memcmp(&attr, &before, sizeof(attr)), attr.attr.size);
	}

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
