/* SPDX-License-Identifier: MIT */
/*
 * ioctl.set-output.mapped-itself.root.to-none
 * an event with a buffer of its own cannot be redirected
 *
 * Man page: perf_event_open(2), PERF_EVENT_IOC_SET_OUTPUT
 * Kernel: perf_event_set_output
 * Since: Linux 2.6.35
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
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
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

static uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static void *mapped_at(const char *call, void *at, int expected, const char *name)
{
	answer(call, at == MAP_FAILED ? -1 : 0, expected, name);
	return at;
}

/* The same of mmap(2), which returns an address. */
#define expect_map(call, expected)                                                                 \
	mapped_at(#call, (call), expected, expected ? #expected : "success")

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

/* The case. */

static uint64_t e;
static void *e_map;
static uint64_t e_map_length;
static uint64_t f;
static void *f_map;
static uint64_t f_map_length;

int main(void)
{
	alarm(300);
	must_be_root();
	must_have(opens_reach_kernel(), "perf_event_open");

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = ATTR_SIZE,
			.config = PERF_COUNT_SW_DUMMY,
			.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER,
			.disabled = 0,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.comm = 1,
			.sample_id_all = 1,
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"mmap":"e","pages":1} */
	e_map_length = (1 + 1) * page_size();
	e_map = expect_map(mmap(NULL, e_map_length, PROT_READ | PROT_WRITE, MAP_SHARED, (int)e, 0), 0);

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = ATTR_SIZE,
			.config = PERF_COUNT_SW_DUMMY,
			.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER,
			.disabled = 0,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.comm = 1,
			.sample_id_all = 1,
		}};
		f = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"mmap":"f","pages":1} */
	f_map_length = (1 + 1) * page_size();
	f_map = expect_map(mmap(NULL, f_map_length, PROT_READ | PROT_WRITE, MAP_SHARED, (int)f, 0), 0);

	/* {"ioctl":"set_output","on":"f","arg":"-1","expect":{"errno":"EINVAL"}} */
	expect_errno(ioctl((int)f, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)-1), EINVAL);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
