/* SPDX-License-Identifier: MIT */
/*
 * Another user of perf on every cpu, for some seconds: what a profiler or a monitor has open while
 * the suite runs. It says "ready" once it is there.
 * usage: disturb WHAT SECONDS; WHAT adds up 1 mmap2 with build ids, 2 BPF programs, 4 sampling with
 * call chains, 8 counting, 16 breakpoints in every slot, 32 these come and go all the time, 64 all
 * are mapped and have no descriptor any more
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	BUILD_IDS = 1,
	PROGRAMS = 2,
	SAMPLING = 4,
	COUNTING = 8,
	BREAKPOINTS = 16,
	COME_AND_GO = 32,
	MAPPED_ALONE = 64,
	PAGES = 9,
	SLOTS = 4096, /* more than there are on all cpus */
	ON_NS = 3000000,
	OFF_NS = 7000000
};

static int slots[SLOTS], taken;

static struct perf_event_attr attr_for(int what)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = PERF_ATTR_SIZE_VER0;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_id_all = 1;
	attr.sample_type =
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	if (what & BUILD_IDS)
		attr.mmap = attr.mmap2 = attr.build_id = 1;
	if (what & PROGRAMS)
		attr.bpf_event = attr.ksymbol = 1;
	if (what & SAMPLING) {
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr.config = PERF_COUNT_SW_CPU_CLOCK;
		attr.freq = 1;
		attr.sample_freq = 99;
	}
	if (what & COUNTING) {
		attr.config = PERF_COUNT_SW_PAGE_FAULTS;
		attr.sample_type = 0;
		attr.freq = 0;
		attr.sample_freq = 0;
	}
	return attr;
}

/* Whether there was anything to map; the event stays as long as its buffer does. */
static int map(long fd, int alone)
{
	size_t length = (size_t)(PAGES * sysconf(_SC_PAGESIZE));

	if (mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0) == MAP_FAILED)
		return 0;
	if (alone)
		close((int)fd);
	return 1;
}

/* All that there are: how many is the processor's affair, and of some none. */
static void take_breakpoints(int cpu, int alone)
{
	struct perf_event_attr attr;
	long fd = 0;

	memset(&attr, 0, sizeof(attr));
	attr.size = PERF_ATTR_SIZE_VER2;
	attr.type = PERF_TYPE_BREAKPOINT;
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = (uintptr_t)slots & ~(uintptr_t)7;
	attr.bp_len = HW_BREAKPOINT_LEN_1;
	attr.exclude_kernel = 1;
	while (taken < SLOTS) {
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0L);
		if (fd < 0)
			break;
		if (alone)
			map(fd, 1);
		else
			slots[taken++] = (int)fd;
	}
}

static void wait_ns(long ns)
{
	struct timespec pause = {.tv_nsec = ns};

	nanosleep(&pause, NULL);
}

/* Until the time is up. */
static void come_and_go(long cpus, time_t end)
{
	while (time(NULL) < end) {
		wait_ns(ON_NS);
		while (taken)
			close(slots[--taken]);
		wait_ns(OFF_NS);
		for (int cpu = 0; cpu < cpus; cpu++)
			take_breakpoints(cpu, 0);
	}
}

int main(int argc, char **argv)
{
	int what = argc == 3 ? atoi(argv[1]) : 0, alone = what & MAPPED_ALONE;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	time_t end = argc == 3 ? time(NULL) + atoi(argv[2]) : 0;

	if (!what)
		return 2;
	for (int cpu = 0; what & BREAKPOINTS && cpu < cpus; cpu++)
		take_breakpoints(cpu, alone);
	for (int cpu = 0; cpu < cpus; cpu++)
		for (int one = BUILD_IDS; one <= COUNTING; one *= 2) {
			struct perf_event_attr attr = attr_for(what & one);
			long fd = what & one ? syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0L)
					     : 0;

			if (fd < 0 || (fd && !map(fd, alone))) {
				perror("disturb");
				return 1;
			}
		}
	if (puts("ready") < 0 || fflush(stdout))
		return 1;
	if (what & COME_AND_GO)
		come_and_go(cpus, end);
	else
		sleep((unsigned)atoi(argv[2]));
	return 0;
}
