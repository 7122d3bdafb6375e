/* SPDX-License-Identifier: MIT */
/*
 * pmu.hardware.not-precise.root
 * samples without skid are refused by a PMU that has none
 *
 * Man page: perf_event_open(2), precise_ip; ERRORS, EOPNOTSUPP
 * Kernel: armpmu_event_init, riscv_pmu_event_init, power_pmu_event_init
 * Since: Linux 2.6.35
 * Note: EOPNOTSUPP is for low-skid events too, where they are not supported
 * Needs (perfabi help tokens): pmu.hw, arch.arm64|arch.riscv|arch.powerpc, pmu.hw.sampling
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

/* Whether an event of user space opens, that samples if it has a period. */
static int event_opens(uint32_t type, uint64_t config, uint64_t period)
{
	struct perf_event_attr asked = {.type = type, .size = PERF_ATTR_SIZE_VER0,
				       .config = config, .sample_period = period, .disabled = 1,
				       .exclude_kernel = 1, .exclude_hv = 1};
	long fd = syscall(SYS_perf_event_open, &asked, 0, -1, -1, 0UL);

	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

/* Whether uname(2) has one of these names, a space around each. */
static int machine_is(const char *names)
{
	struct utsname u = {0};
	char name[sizeof(u.machine) + 2];

	uname(&u);
	snprintf(name, sizeof(name), " %s ", u.machine);
	return strstr(names, name) != NULL;
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
	must_have(event_opens(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0), "pmu.hw");
	must_have(machine_is(" aarch64  aarch64_be ") || machine_is(" riscv64  riscv32 ") || machine_is(" ppc  ppc64  ppc64le "), "arch.arm64|arch.riscv|arch.powerpc");
	must_have(event_opens(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000), "pmu.hw.sampling");

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_HARDWARE,
			.size = ATTR_SIZE,
			.config = PERF_COUNT_HW_CPU_CYCLES,
			.sample_period = 1000000,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.precise_ip = 3,
		}};
		union attr before = attr;
		expect_errno(open_event(&attr, 0, -1, -1, 0), EOPNOTSUPP);
		expect(!memcmp(&attr, &before, sizeof(attr)), attr.attr.size);
	}

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
