/* SPDX-License-Identifier: MIT */
/*
 * count.software.file-faults.root
 * faults on pages of a file that are in memory are minor faults
 *
 * Man page: perf_event_open(2), config, PERF_TYPE_SOFTWARE
 * Kernel: perf_swevent_event
 * Since: Linux 2.6.31
 *
 *     cc -Wall -Wextra -Werror -pthread -o case case.c && sudo ./case
 *
 * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it
 * cannot be tried like this. Written by `perfabi show --c`.
 */
#define _GNU_SOURCE
#include <errno.h>
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
#include <time.h>
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

static uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

/* The same of a file in memory, each mapped when it is touched. */
static volatile unsigned char *file_pages(uint64_t pages)
{
	size_t size = pages * page_size();
	int fd = memfd_create("perfabi-pages", MFD_CLOEXEC);
	void *at;

	must(fd >= 0 && !ftruncate(fd, (off_t)size));
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(at != MAP_FAILED);
	close(fd);
	madvise(at, size, MADV_RANDOM);
	return at;
}

/* A clock as the kernel has it: what a time namespace adds is taken away. */
static uint64_t nanoseconds(clockid_t clock)
{
	const char *name = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ? "monotonic" : clock == CLOCK_BOOTTIME ? "boottime" : "none";
	long long seconds, more, offset = 0;
	char word[16];
	FILE *offsets;
	struct timespec t;

	must(!clock_gettime(clock, &t));
	offsets = strcmp(name, "none") ? fopen("/proc/self/timens_offsets", "re") : NULL;
	while (offsets && fscanf(offsets, "%15s %lld %lld", word, &seconds, &more) == 3)
		if (!strcmp(word, name))
			offset = seconds * 1000000000 + more;
	if (offsets)
		fclose(offsets);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec - (uint64_t)offset;
}

/* And until the clock has moved, where it moves in steps of milliseconds. */
static void touch_pages(volatile unsigned char *at, uint64_t pages)
{
	const uint64_t page = page_size(), begun = nanoseconds(CLOCK_THREAD_CPUTIME_ID);

	for (uint64_t i = 0; i < pages; i++)
		at[i * page] = 1;
	for (int i = 0; i < 1000000 && nanoseconds(CLOCK_THREAD_CPUTIME_ID) == begun; i++)
		;
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

static uint64_t e;
static volatile unsigned char *memory_1;
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

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = ATTR_SIZE,
			.config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"workload":"file-fault","pages":12,"counted":"e"} */
	memory_1 = file_pages(12);
	touch_pages(memory_1, 0); /* itself is no fault then */
	must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	must(!ioctl((int)e, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
	touch_pages(memory_1, 12);
	must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	munmap((void *)memory_1, 12 * page_size());

	/* {"read":"e","expect":{"value":12}} */
	e_now = read_e_values((int)e, NULL, 65536);
	expect(e_now.value == 12, e_now.value);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
