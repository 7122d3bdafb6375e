/* SPDX-License-Identifier: MIT */
/*
 * Each of these stands in a small file, of which no two systems have all.
 */
#include "machine/host.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

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

/*
 * One table of signatures: where each stands, and whose it is.
 */

enum { LOG_READ_ALL = 3, LOG_BYTES = 1 << 20 }; /* syslog(2), SYSLOG_ACTION_READ_ALL */

#define DMI "/sys/class/dmi/id/"
#define DEVICE_TREE "/proc/device-tree/"
static const char cpuid[] = "CPUID", kernel_log[] = "log";
static const char clocks[] = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
static const char tcg[] = "TCGTCGTCGTCG";

/*
 * The first row of which the text stands there is it; without a name, it is called by what follows
 * the text in its line. What says more comes before what says less: PVM, Firecracker and VirtualBox
 * show KVM's CPUID, and KVM and Xen can show Hyper-V's beside their own. PVM shows it to its kernel
 * alone: what a process reads is the processor's, and names what PVM itself runs on.
 */
static const struct signature {
	const char *where; /* `cpuid`, `kernel_log`, or a file */
	const char *text, *name;
} signatures[] = {
	{kernel_log, "Hypervisor detected: PVM", "PVM"},
	{clocks, "kvm-clock", "PVM"},
	{kernel_log, "FIRECK", "KVM (Firecracker)"},
	{"/sys/firmware/acpi/tables/FACP", "FIRECK", "KVM (Firecracker)"},
	{DMI "product_name", "VirtualBox", "VirtualBox"},
	{"/sys/hypervisor/type", "xen", "Xen"},
	{cpuid, "XenVMMXenVMM", "Xen"},
	{cpuid, tcg, "QEMU TCG"},
	{cpuid, "KVMKVMKVM", "KVM"},
	{cpuid, "Linux KVM Hv", "KVM"},
	{cpuid, "VMwareVMware", "VMware"},
	{cpuid, "VBoxVBoxVBox", "VirtualBox"},
	{cpuid, "bhyve bhyve ", "bhyve"},
	{cpuid, "ACRNACRNACRN", "ACRN"},
	{cpuid, "Apple VZ", "Apple"},
	{cpuid, "prl hyperv  ", "Parallels"},
	{cpuid, " lrpepyh  vr", "Parallels"},
	{cpuid, "Jailhouse", "Jailhouse"},
	{cpuid, "Microsoft Hv", "Hyper-V"},
	{DEVICE_TREE "hypervisor/compatible", "linux,kvm", "KVM"},
	{DEVICE_TREE "hypervisor/compatible", "xen", "Xen"},
	{DEVICE_TREE "hypervisor/compatible", "vmware", "VMware"},
	{"/proc/sysinfo", "KVM/Linux", "KVM"},
	{"/proc/sysinfo", "z/VM", "z/VM"},
	{DMI "product_name", "KVM\n", "KVM"},
	{DMI "product_name", "Parallels", "Parallels"},
	{DMI "product_name", "Apple Virtualization", "Apple"},
	{DMI "sys_vendor", "QEMU", "QEMU"},
	{DMI "sys_vendor", "VMware", "VMware"},
	{DMI "bios_vendor", "BHYVE", "bhyve"},
	{DMI "bios_version", "Hyper-V", "Hyper-V"},
	{DEVICE_TREE "compatible", "linux,dummy-virt", "QEMU"},
	{DEVICE_TREE "model", "qemu", "QEMU"},
	{kernel_log, "Hypervisor detected: ", NULL},
	{"/sys/hypervisor/type", "", NULL},
	{cpuid, "", "yes, not named"},
};

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* The texts of all leaves at which one can stand, in ebx, ecx and edx; empty: no hypervisor. */
static void read_cpuid(char *text, size_t size)
{
	enum { FIRST = 0x40000000, END = 0x40001000, STEP = 0x100 };
	unsigned eax, words[3];

	text[0] = '\0';
	__cpuid(1, eax, words[0], words[1], words[2]);
	if (!(words[1] >> 31)) /* else the leaves would be any other's */
		return;
	for (unsigned leaf = FIRST; leaf < END; leaf += STEP) {
		size_t n = strlen(text);

		__cpuid(leaf, eax, words[0], words[1], words[2]);
		snprintf(text + n, size - n, "%.12s\n", (const char *)words);
	}
}
#else
static void read_cpuid(char *text, size_t size)
{
	(void)size;
	text[0] = '\0';
}
#endif

/* CPUID names a hypervisor other than KVM and QEMU TCG. */
static bool cpuid_names_another(void)
{
	char text[1024];

	read_cpuid(text, sizeof(text));
	return text[0] && !strstr(text, "KVM") && !strstr(text, tcg);
}

/* What stands there, with spaces for NULs, which a device tree has between its texts. */
static void read_traces(const char *where, char *text, size_t size)
{
	long n = 0;

	if (where == cpuid) {
		read_cpuid(text, size);
		if (cpuid_names_another() && access(clocks, R_OK))
			snprintf(text, size, "\n"); /* it may be what PVM runs on */
		return;
	}
	if (where == kernel_log)
		n = klogctl(LOG_READ_ALL, text, (int)size - 1);
	else if (where != clocks || cpuid_names_another())
		n = read_small(where, text, size);
	text[n > 0 ? n : 0] = '\0';
	for (long i = 0; i < n; i++)
		text[i] = text[i] ? text[i] : ' ';
}

void hypervisor_read(char *name, size_t size)
{
	char *text = malloc(LOG_BYTES);

	name[0] = '\0';
	for (size_t i = 0; text && !name[0] && i < sizeof(signatures) / sizeof(signatures[0]);
	     i++) {
		const struct signature *s = &signatures[i];
		const char *at;

		if (!i || strcmp(s->where, signatures[i - 1].where) != 0)
			read_traces(s->where, text, LOG_BYTES);
		at = text[0] ? strstr(text, s->text) : NULL;
		if (!at)
			continue;
		at += strlen(s->text);
		snprintf(name, size, "%.*s", s->name ? (int)size : (int)strcspn(at, "\n"),
			 s->name ? s->name : at);
	}
	free(text);
}

bool is_emulated(void)
{
	char text[1024];

	read_cpuid(text, sizeof(text));
	return strstr(text, tcg) != NULL;
}
