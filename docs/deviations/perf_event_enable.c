/* SPDX-License-Identifier: MIT */
/*
 * group.schedule.sibling-of-another-pmu.root
 * a software sibling that is enabled while its group is on starts at once, whatever its PMU
 *
 * Man page: perf_event_open(2), group_fd
 * Kernel: __perf_event_enable
 * Since: Linux 2.6.31
 * Note: cpu-clock and task-clock are PMUs of their own. A kernel that schedules only the 
 *  sibling's PMU again starts it with the next tick
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
#include <sys/resource.h>
#include <sys/syscall.h>
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

/* How often this thread has left the cpu: of its own accord, and in all. */
struct switches {
	uint64_t voluntary, all;
};

static struct switches switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (struct switches){(uint64_t)usage.ru_nvcsw,
				 (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw};
}

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

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

/* The cpu time of one short loop; 0 if the task left the cpu meanwhile. */
static uint64_t spin_once(void)
{
	const uint64_t switched = switches().all, begun = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	uint64_t ended;

	for (volatile int i = 0; i < 10000; i++)
		;
	ended = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	return switches().all == switched ? ended - begun : 0;
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
	uint64_t time_enabled;
	uint64_t time_running;
};

static uint64_t e;
static uint64_t f;
static uint64_t value_1;
static uint64_t value_3;
static uint64_t value_4;
static struct f_values x;
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
		p += 8; /* value */
		r->time_enabled = take64(&p);
		r->time_running = take64(&p);
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
			.config = PERF_COUNT_SW_CPU_CLOCK,
			.read_format = PERF_FORMAT_GROUP,
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
			.config = PERF_COUNT_SW_TASK_CLOCK,
			.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
		}};
		f = (uint64_t)expect_errno(open_event(&attr, 0, -1, (int)e, 0), 0);
	}

	/* {"ioctl":"enable","on":"e"} */
	value_1 = 0;
	expect_errno(ioctl((int)e, PERF_EVENT_IOC_ENABLE, &value_1), 0);

	/* repeat */
	for (uint64_t i_2 = 0; i_2 < 10; i_2++) {

		/* {"ioctl":"enable","on":"f"} */
		value_3 = 0;
		expect_errno(ioctl((int)f, PERF_EVENT_IOC_ENABLE, &value_3), 0);

		/* {"workload":"spin","ms":2} */
		for (uint64_t spun = 0; spun < UINT64_C(1000000) * 2;)
			spun += spin_once();

		/* {"ioctl":"disable","on":"f"} */
		value_4 = 0;
		expect_errno(ioctl((int)f, PERF_EVENT_IOC_DISABLE, &value_4), 0);
	}

	/* {"read":"f","bind":"x"} */
	x = read_f_values((int)f, NULL, 65536);

	/* read */
	f_now = read_f_values((int)f, NULL, 65536);
	expect(f_now.time_enabled >= 10000000, f_now.time_enabled);
	expect(f_now.time_running >= (uint64_t)(x.time_enabled-2000000), f_now.time_running);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
