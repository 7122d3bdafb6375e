/* SPDX-License-Identifier: MIT */
/*
 * One table of signatures: where each stands, and whose it is.
 */
#include "machine/hypervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#include "machine/proc.h"

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
