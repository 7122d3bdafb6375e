/* SPDX-License-Identifier: MIT */
/*
 * Which machine this is, for whoever reads a report somewhere else: its name, what runs on it, and
 * when it was looked at.
 */
#ifndef PERFABI_HOST_H
#define PERFABI_HOST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct host {
	char name[65];         /* uname(2)'s nodename, or what somebody calls it; empty: not told */
	char boot_id[40];      /* /proc/sys/kernel/random/boot_id */
	char distribution[96]; /* PRETTY_NAME of os-release(5), a container's own in one */
	char cpu_model[96];    /* as /proc/cpuinfo names it; empty: it does not */
	char cpu_vendor[32];   /* who made it: AuthenticAMD, of Arm the implementer's number */
	char options[512];     /* those of the kernel's command line that change what perf does */
	char time[24];         /* "2026-11-23T19:08:36Z" */
};

/* Reads it all; what cannot be read is empty. */
void host_read(struct host *host);

/* What /proc/cpuinfo says of the processor; empty: nothing. */
void host_cpu(char *model, size_t model_size, char *vendor, size_t vendor_size);

/* Calls it so. 0, or -EINVAL: a name has 1 to 64 bytes. */
int host_rename(struct host *host, const char *name);

/* Neither its name nor its boot id is told. */
void host_hide(struct host *host);

/* A new reference to an object of what is not empty. */
json_t *host_json(const struct host *host);

/* Its name; empty: none is seen. What only root may read tells others nothing. */
void hypervisor_read(char *name, size_t size);

/* Whether CPUID says that QEMU emulates this processor; only x86 can tell. */
bool is_emulated(void);

#endif
