/* SPDX-License-Identifier: MIT */
/*
 * Another user of perf on every cpu, for some seconds: what a profiler or a monitor has open while
 * the suite runs. It says "ready" once it is there.
 * usage: disturb WHAT SECONDS; WHAT adds up 1 mmap2 with build ids, 2 BPF programs, 4 sampling with
 * call chains, 8 counting, 16 breakpoints in every slot
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	BUILD_IDS = 1,
	PROGRAMS = 2,
	SAMPLING = 4,
	COUNTING = 8,
	BREAKPOINTS = 16,
	PAGES = 9,
	SLOTS = 64
};

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

/* All that there are: how many is the processor's affair, and of some none. */
static void take_breakpoints(int cpu)
{
	struct perf_event_attr attr;
	long fd = 0;

	memset(&attr, 0, sizeof(attr));
	attr.size = PERF_ATTR_SIZE_VER2;
	attr.type = PERF_TYPE_BREAKPOINT;
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = (uintptr_t)&attr & ~(uintptr_t)7;
	attr.bp_len = HW_BREAKPOINT_LEN_1;
	attr.exclude_kernel = 1;
	for (int i = 0; fd >= 0 && i < SLOTS; i++)
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0L);
}

int main(int argc, char **argv)
{
	int what = argc == 3 ? atoi(argv[1]) : 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), page = sysconf(_SC_PAGESIZE);

	if (!what)
		return 2;
	for (int cpu = 0; what & BREAKPOINTS && cpu < cpus; cpu++)
		take_breakpoints(cpu);
	for (int cpu = 0; cpu < cpus; cpu++)
		for (int one = BUILD_IDS; one <= COUNTING; one *= 2) {
			struct perf_event_attr attr = attr_for(what & one);
			long fd = what & one ? syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0L)
					     : 0;

			if (fd < 0 ||
			    (fd && mmap(NULL, (size_t)(PAGES * page), PROT_READ | PROT_WRITE,
					MAP_SHARED, (int)fd, 0) == MAP_FAILED)) {
				perror("disturb");
				return 1;
			}
		}
	if (puts("ready") < 0 || fflush(stdout))
		return 1;
	sleep((unsigned)atoi(argv[2]));
	return 0;
}
