/* SPDX-License-Identifier: MIT */
/*
 * What this machine has of hardware events: whether plain ones open, on which cpus they count, and
 * what sysfs says of the processor's own PMU.
 */
#ifndef PERFABI_HARDWARE_H
#define PERFABI_HARDWARE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/abi.h"

/* A PMU of /sys/bus/event_source/devices. */
struct pmu {
	char name[64];
	uint32_t type;
	/* What its files say, as far as it has them: caps/max_precise and caps/branches, or -1; the
	 * lists in cpus and cpumask, or empty; see cpu_list_settle(). */
	int max_precise, branches;
	char cpus[1024], cpumask[1024];
};

struct hardware {
	/* What cpu-cycles in user space alone gives: 0 or an errno. */
	int counting, sampling;
	/* Of a PMU that refuses that: what it takes, as "exclude_guest"; NULL: not known. */
	const char *wants;
	/* Where such an event counts. A processor of several kinds of cores has a PMU for each, and
	 * a plain event is on one of them: elsewhere it stands still. */
	cpu_set_t cpus;
};

/* Opens, and runs for a moment on each cpu of `usable`; the caller's affinity is as it was then. */
void hardware_probe(struct hardware *hardware, const struct abi *abi, const cpu_set_t *usable);

/* A cpu where plain hardware events count: the one that the caller is on, if it is one. */
int hardware_cpu(const struct hardware *hardware);

/* Reads what the PMU's files say, beside its name and type. */
void hardware_read_files(struct pmu *pmu);

/*
 * The first line of such a file of the processor's PMU, as "caps/max_precise": its length, or
 * -ENOENT. That PMU is the one called cpu, or the first of `pmus` that tells its cpus.
 */
int hardware_file(const struct pmu *pmus, size_t count, const char *file, char *text, size_t size);

#endif
