/* SPDX-License-Identifier: MIT */
/*
 * What this machine has of hardware events.
 */
#include "machine/hardware.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "machine/cpus.h"
#include "machine/probe.h"
#include "machine/proc.h"

#define CYCLES "\"type\":\"hardware\",\"config\":\"cpu_cycles\",\"size\":64"
#define USER "\"exclude_kernel\":1,\"exclude_hv\":1"

/* What a PMU takes that refuses to leave out the kernel alone. */
static const char *find_wants(const struct abi *abi, unsigned char *attr)
{
	/* m1_pmu_set_event_filter() */
	if (!probe_errno(abi, "{" CYCLES ",\"disabled\":1," USER ",\"exclude_guest\":1}", attr))
		return "exclude_guest";
	/* PERF_PMU_CAP_NO_EXCLUDE */
	if (!probe_errno(abi, "{" CYCLES ",\"disabled\":1}", attr))
		return "no exclude bit";
	return NULL;
}

/* Nanoseconds that the event has been on a counter. */
static uint64_t time_running(int fd)
{
	uint64_t words[2] = {0};

	return read(fd, words, sizeof(words)) == (ssize_t)sizeof(words) ? words[1] : 0;
}

static bool counts_on(int fd, size_t cpu)
{
	uint64_t before = time_running(fd);
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return false;
	for (volatile int i = 0; i < 1000; i++)
		;
	return time_running(fd) > before;
}

/* All of `usable` where none counts: then the cases are to tell. */
static void find_cpus(struct hardware *hardware, int fd, const cpu_set_t *usable)
{
	cpu_set_t own;

	if (sched_getaffinity(0, sizeof(own), &own))
		return;
	CPU_ZERO(&hardware->cpus);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, usable) && counts_on(fd, cpu))
			CPU_SET(cpu, &hardware->cpus);
	sched_setaffinity(0, sizeof(own), &own);
	if (!CPU_COUNT(&hardware->cpus))
		hardware->cpus = *usable;
}

void hardware_probe(struct hardware *hardware, const struct abi *abi, const cpu_set_t *usable)
{
	unsigned char *attr = calloc(1, abi->attr_size);
	int fd;

	*hardware = (struct hardware){.counting = ENOMEM, .sampling = ENOMEM, .cpus = *usable};
	if (!attr)
		return;
	fd = probe_open(abi, "{" CYCLES "," USER ",\"read_format\":[\"total_time_running\"]}",
			attr);
	hardware->counting = fd < 0 ? -fd : 0;
	hardware->sampling = probe_errno(
		abi, "{" CYCLES ",\"disabled\":1," USER ",\"sample_period\":1000000}", attr);
	if (fd < 0)
		hardware->wants = find_wants(abi, attr);
	else
		find_cpus(hardware, fd, usable);
	if (fd >= 0)
		close(fd);
	free(attr);
}

int hardware_cpu(const struct hardware *hardware)
{
	int own = sched_getcpu();

	if (own >= 0 && own < CPU_SETSIZE && CPU_ISSET((size_t)own, &hardware->cpus))
		return own;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &hardware->cpus))
			return cpu;
	return own;
}

/* The first line of a file of that PMU: its length, or a negative errno. */
static int read_file_of(const struct pmu *pmu, const char *file, char *text, size_t size)
{
	char path[320];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", pmu->name, file);
	return (int)read_line(path, text, size);
}

/* A file that is not there says nothing; where the others of caps are, it says 0. */
void hardware_read_files(struct pmu *pmu)
{
	char text[32];

	pmu->max_precise = pmu->branches = -1;
	if (read_file_of(pmu, "caps/max_precise", text, sizeof(text)) > 0) {
		pmu->max_precise = atoi(text);
		pmu->branches = 0;
	}
	if (read_file_of(pmu, "caps/branches", text, sizeof(text)) > 0)
		pmu->branches = atoi(text);
	read_file_of(pmu, "cpus", pmu->cpus, sizeof(pmu->cpus));
	read_file_of(pmu, "cpumask", pmu->cpumask, sizeof(pmu->cpumask));
	cpu_list_settle(pmu->cpus, sizeof(pmu->cpus));
	cpu_list_settle(pmu->cpumask, sizeof(pmu->cpumask));
}

int hardware_file(const struct pmu *pmus, size_t count, const char *file, char *text, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = pmus[i].name;
		char path[320];

		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpus", name);
		if (strcmp(name, "cpu") != 0 && access(path, F_OK))
			continue;
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", name, file);
		if (read_line(path, text, size) >= 0)
			return (int)strlen(text);
	}
	text[0] = '\0';
	return -ENOENT;
}
