/* SPDX-License-Identifier: MIT */
/*
 * Each of these stands in a small file, of which no two systems have all.
 */
#include "machine/host.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "machine/proc.h"

/* Options by which perf's events, or what may be seen of them, differ. */
static const char *const options_of_perf[] = {"nmi_watchdog",
					      "nowatchdog",
					      "nosoftlockup",
					      "perf",
					      "lockdown",
					      "lsm",
					      "security",
					      "nokaslr",
					      "isolcpus",
					      "nohz_full",
					      "mitigations",
					      "intel_pmu",
					      "amd_pmu",
					      "no_debug_regs",
					      "kprobe_event",
					      "noapic",
					      "nolapic",
					      "tsx",
					      "maxcpus",
					      "nr_cpus",
					      "nosmt",
					      "cgroup_disable",
					      "systemd.unified_cgroup_hierarchy",
					      "sysctl.kernel.perf_event_paranoid"};

/* Whether a word of the command line is that option, with or without "=VALUE". */
static bool is_of_perf(const char *word)
{
	size_t n = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(options_of_perf) / sizeof(options_of_perf[0]); i++)
		if (strlen(options_of_perf[i]) == n && !strncmp(word, options_of_perf[i], n))
			return true;
	return false;
}

static void read_options(char *out, size_t size)
{
	char line[4096], *rest = line, *word;
	size_t at = 0;

	read_line("/proc/cmdline", line, sizeof(line));
	while ((word = strsep(&rest, " ")) && at < size)
		if (is_of_perf(word))
			at += (size_t)snprintf(out + at, size - at, "%s%s", at ? " " : "", word);
}

/* The first value in a file of lines "KEY : VALUE" or "KEY=VALUE", of the first key that has one.
 */
static void read_value(const char *path, const char *const *keys, char between, char *out,
		       size_t size)
{
	char line[512];
	size_t best = SIZE_MAX;
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f)) {
		char *value = strchr(line, between);
		size_t name = value ? (size_t)(value - line) : 0;

		while (name && strchr(" \t", line[name - 1]))
			name--;
		for (size_t i = 0; value && keys[i] && i < best; i++) {
			if (strlen(keys[i]) != name || strncmp(line, keys[i], name) != 0)
				continue;
			value += 1 + strspn(value + 1, " \t\"'");
			value[strcspn(value, "\"'\n")] = '\0';
			if (!value[0])
				break;
			snprintf(out, size, "%s", value);
			best = i;
		}
	}
	if (f)
		fclose(f);
}

/*
 * x86, 32-bit Arm, LoongArch, MIPS, POWER and RISC-V have a name; s390 has the machine's number in
 * a line of its own, and 64-bit Arm and old RISC-V have numbers alone.
 */
void host_cpu(char *model, size_t model_size, char *vendor, size_t vendor_size)
{
	static const char path[] = "/proc/cpuinfo";
	static const char *const vendors[] = {"vendor_id", "CPU implementer", "mvendorid", NULL};
	static const char *const names[] = {"model name", "Model Name",  "cpu model", "cpu",
					    "uarch",      "processor 0", NULL};
	static const char *const part[] = {"CPU part", NULL};
	static const char *const isa[] = {"isa", NULL};
	char number[32] = "";

	read_value(path, vendors, ':', vendor, vendor_size);
	read_value(path, names, ':', model, model_size);
	if (model[0])
		return;
	read_value(path, part, ':', number, sizeof(number));
	if (number[0])
		snprintf(model, model_size, "implementer %s, part %s", vendor, number);
	else
		read_value(path, isa, ':', model, model_size);
}

void host_read(struct host *host)
{
	static const char *const pretty[] = {"PRETTY_NAME", "NAME", NULL};
	struct utsname u;
	time_t now = time(NULL);
	struct tm tm;

	*host = (struct host){0};
	if (!uname(&u))
		snprintf(host->name, sizeof(host->name), "%s", u.nodename);
	read_line("/proc/sys/kernel/random/boot_id", host->boot_id, sizeof(host->boot_id));
	read_value("/etc/os-release", pretty, '=', host->distribution, sizeof(host->distribution));
	if (!host->distribution[0])
		read_value("/usr/lib/os-release", pretty, '=', host->distribution,
			   sizeof(host->distribution));
	host_cpu(host->cpu_model, sizeof(host->cpu_model), host->cpu_vendor,
		 sizeof(host->cpu_vendor));
	read_options(host->options, sizeof(host->options));
	if (gmtime_r(&now, &tm))
		strftime(host->time, sizeof(host->time), "%Y-%m-%dT%H:%M:%SZ", &tm);
}

int host_rename(struct host *host, const char *name)
{
	if (!name[0] || strlen(name) >= sizeof(host->name))
		return -EINVAL;
	snprintf(host->name, sizeof(host->name), "%s", name);
	return 0;
}

void host_hide(struct host *host)
{
	host->name[0] = host->boot_id[0] = '\0';
}

json_t *host_json(const struct host *host)
{
	const struct {
		const char *key, *text;
	} members[] = {{"name", host->name},
		       {"boot_id", host->boot_id},
		       {"distribution", host->distribution},
		       {"cpu_model", host->cpu_model},
		       {"cpu_vendor", host->cpu_vendor},
		       {"options", host->options}};
	json_t *json = json_object();

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (members[i].text[0])
			json_object_set_new(json, members[i].key, json_string(members[i].text));
	return json;
}
