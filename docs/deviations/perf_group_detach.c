/* SPDX-License-Identifier: MIT */
/*
 * read.read.leader-closed.root
 * siblings of a leader that is closed stand alone, each a group of one
 *
 * Man page: perf_event_open(2), Reading results
 * Kernel: perf_read
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

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

static uint64_t event_id(uint64_t fd)
{
	uint64_t id = 0;

	must(!ioctl((int)fd, PERF_EVENT_IOC_ID, &id));
	return id;
}

static uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Pages that nobody has touched; small ones, for a huge one would be one fault. */
static volatile unsigned char *fresh_pages(uint64_t pages)
{
	size_t size = pages * page_size();
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(at != MAP_FAILED);
	madvise(at, size, MADV_NOHUGEPAGE);
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

struct f_values {
	uint64_t bytes;
	uint64_t nr;
	uint64_t values_nr;
	struct {
	uint64_t value;
	uint64_t id;
	} values[4096];
};

static uint64_t e;
static uint64_t f;
static uint64_t f_id;
static volatile unsigned char *memory_1;
static struct f_values f_now;

/* By the read_format of the event. */
static struct f_values read_f_values(int fd, void *at, size_t size)
{
	static unsigned char buffer[65536];
	const unsigned char *p = at ? at : buffer;
	struct f_values kept = {0}, *r = &kept;
	long got = read(fd, at ? at : buffer, size);
	uint64_t n = 0;

	(void)n, (void)r;
	answer("read", got, 0, "success");
	kept.bytes = (uint64_t)got;
	if (got) {
		uint64_t nr = take64(&p);
		(void)nr;
		r->nr = nr;
		n = nr;
		r->values_nr = n;
		for (uint64_t i = 0; i < n; i++) {
			r->values[i < 4095 ? i : 4095].value = take64(&p);
			r->values[i < 4095 ? i : 4095].id = take64(&p);
		}
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
			.config = PERF_COUNT_SW_PAGE_FAULTS,
			.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = ATTR_SIZE,
			.config = PERF_COUNT_SW_PAGE_FAULTS,
			.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
			.disabled = 0,
			.exclude_kernel = 1,
			.exclude_hv = 1,
		}};
		f = (uint64_t)expect_errno(open_event(&attr, 0, -1, (int)e, 0), 0);
		f_id = event_id(f);
	}

	/* {"workload":"touch","pages":6,"counted":"e"} */
	memory_1 = fresh_pages(6);
	touch_pages(memory_1, 0); /* itself is no fault then */
	must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	must(!ioctl((int)e, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
	touch_pages(memory_1, 6);
	must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	munmap((void *)memory_1, 6 * page_size());

	/* {"close":"e"} */
	expect_errno(close((int)e), 0);

	/* {"read":"f","expect":{"nr":1,"values":[{"value":6,"id":"$f.id"}]}} */
	f_now = read_f_values((int)f, NULL, 65536);
	expect(f_now.nr == 1, f_now.nr);
	expect(f_now.values_nr == 1, f_now.values_nr);
	expect(f_now.values[0].value == 6, f_now.values[0].value);
	expect(f_now.values[0].id == (uint64_t)f_id, f_now.values[0].id);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
