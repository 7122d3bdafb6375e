/* SPDX-License-Identifier: MIT */
/*
 * The tokens, in one table: each row has a form and the function that settles it.
 */
#include "machine/require.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "machine/environment.h"
#include "machine/limits.h"
#include "machine/host.h"
#include "machine/names.h"
#include "machine/proc.h"
#include "machine/version.h"
#include "text/ascii.h"
#include "text/say.h"

/*
 * An event is a file, and /proc says who has it open or mapped. One that is on its way through a
 * socket, or in a BPF map, is not seen.
 */

enum { STEPS_MAX = 1000 }; /* from a process to the first one, with some that begin anew */

static const char EVENT[] = "anon_inode:[perf_event]";

static bool is_event(int folder, const char *name)
{
	char target[sizeof(EVENT) + 1];
	ssize_t n = readlinkat(folder, name, target, sizeof(target));

	return n == sizeof(EVENT) - 1 && !memcmp(target, EVENT, sizeof(EVENT) - 1);
}

/* Whether an event is among a folder's descriptors; *count of them are there. */
static bool is_open(const char *path, size_t *count)
{
	struct dirent *entry;
	bool found = false;
	DIR *dir = opendir(path);

	*count = 0;
	for (; dir && !found && (entry = readdir(dir)); ++*count)
		found = is_event(dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* An event that is mapped stays when its descriptor is closed. */
static bool is_mapped(const char *path)
{
	char *line = NULL;
	size_t size = 0;
	bool found = false;
	FILE *f = fopen(path, "re");

	while (f && !found && getline(&line, &size, f) > 0)
		found = strstr(line, EVENT) != NULL;
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* `folder`: of a process, or a thread. *is_empty: it has no file open any more. */
static bool holds_event(const char *folder, bool *is_empty)
{
	char path[700];
	size_t count;
	bool found;

	snprintf(path, sizeof(path), "%s/fd", folder);
	found = is_open(path, &count);
	*is_empty = count <= 2; /* . and .. */
	snprintf(path, sizeof(path), "%s/maps", folder);
	return found || is_mapped(path);
}

/* Of a process whose first thread has ended, the others have the files and the memory. */
static bool has_event(const char *pid)
{
	char path[600];
	struct dirent *entry;
	bool is_empty, found;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.255s", pid);
	found = holds_event(path, &is_empty);
	if (found || !is_empty)
		return found;
	snprintf(path, sizeof(path), "/proc/%.255s/task", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%.255s/task/%.255s", pid, entry->d_name);
		found = entry->d_name[0] != '.' && holds_event(path, &is_empty);
	}
	if (dir)
		closedir(dir);
	return found;
}

/*
 * Whether the processes that can be seen are all there are, and with these effective capabilities
 * their files too.
 */
static bool other_events_seen(uint64_t capabilities)
{
	/* The first pid namespace has this number since there are numbers (PROC_PID_INIT_INO). */
	static const char first[] = "pid:[4026531836]";
	char target[sizeof(first) + 8];
	ssize_t n = readlink("/proc/self/ns/pid", target, sizeof(target));

	/* The files of root's, and of who has more capabilities, take CAP_SYS_PTRACE. */
	return !geteuid() && (capabilities >> CAP_SYS_PTRACE & 1) && n == sizeof(first) - 1 &&
	       !memcmp(target, first, sizeof(first) - 1);
}

/* 0: of the first process; -1: it is gone. */
static pid_t parent_of(pid_t pid)
{
	struct proc_stat stat;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return proc_stat_read(path, &stat) ? stat.parent : -1;
}

/*
 * Whether a process is the runner, or descends from it, by who its parents are: a name anybody can
 * have. What a case leaves behind has the runner for its parent, which is a subreaper; so where one
 * on the way goes meanwhile, the way is another. A process that is gone itself is nobody's.
 */
static bool is_ours(pid_t pid, pid_t runner)
{
	pid_t at = pid;

	for (int left = STEPS_MAX; at > 0 && at != runner && left > 0; left--) {
		pid_t parent = parent_of(at);

		if (parent < 0 && at == pid)
			return true;
		at = parent < 0 ? pid : parent;
	}
	return at == runner;
}

/*
 * Whether a process other than the runner and those that descend from it, as far as they can be
 * seen in /proc, has an event open or mapped; `who` is the first: "perf, process 1234".
 */
static bool other_events(pid_t runner, char *who, size_t size)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (proc && !found && (entry = readdir(proc))) {
		char path[300], name[32], shown[4 * sizeof(name)];

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || !has_event(entry->d_name) ||
		    is_ours((pid_t)atol(entry->d_name), runner))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		read_line(path, name, sizeof(name));
		snprintf(who, size, "%s, process %.12s, has events",
			 say_harmless(name, shown, sizeof(shown)), entry->d_name);
		found = true;
	}
	if (proc)
		closedir(proc);
	return found;
}

/* What a form's function returns beside true and false: this machine does not tell. */
enum { NOT_KNOWN = -1 };

struct token {
	const char *bare;                /* the whole, without a ! */
	const char *rest;                /* behind the form's name: "KPROBES" of config.KPROBES */
	const struct relation *relation; /* of a comparison */
	enum identity as;
	struct environment *env;
	char *found; /* what there is here, in `size` bytes */
	size_t size;
};

/* Says what there is. */
__attribute__((format(printf, 2, 3))) static void found(const struct token *t, const char *format,
							...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(t->found, t->size, format, values);
	va_end(values);
}

static const struct relation {
	const char *sign;
	bool less, equal, greater; /* whether it holds then */
} relations[] = {{">=", false, true, true}, {"<=", true, true, false}, {"==", false, true, false},
		 {">", false, false, true}, {"<", true, false, false}, {.sign = NULL}};

static bool compare(const struct relation *r, int difference)
{
	return difference < 0 ? r->less : difference ? r->greater : r->equal;
}

static bool compare_numbers(const struct token *t, long have)
{
	long want = strtol(t->rest, NULL, 0);

	return compare(t->relation, have < want ? -1 : have > want);
}

/* As far as it goes: a limit may be none. */
static int compare_property(const struct property *p, const struct token *t)
{
	bool is_signed = p->of.kind == AN_INT || p->of.kind == A_LONG;
	uint64_t value;
	bool known = datum_get(t->env, &p->of, &value);

	if (!is_signed && value > LONG_MAX)
		value = LONG_MAX;
	found(t, p->token.found, (long long)value);
	return known ? compare_numbers(t, (long)value) : NOT_KNOWN;
}

static int kernel(const struct token *t)
{
	found(t, "this is %s", t->env->upstream);
	return compare(t->relation, abi_version_compare(t->env->upstream, t->rest));
}

static int kptr_restrict(const struct token *t)
{
	char text[16];

	found(t, "/proc/sys/kernel/kptr_restrict cannot be read");
	if (read_line("/proc/sys/kernel/kptr_restrict", text, sizeof(text)) < 0)
		return NOT_KNOWN;
	found(t, "it is %s", text);
	return compare_numbers(t, strtol(text, NULL, 10));
}

static int bits(const struct token *t)
{
	found(t, "this is a program of %zu bits", sizeof(long) * 8);
	return compare_numbers(t, (long)sizeof(long) * 8);
}

static int compat(const struct token *t)
{
	found(t, "program and kernel have %u bits", t->env->kernel_bits);
	return t->env->kernel_bits != sizeof(long) * 8;
}

static int arch(const struct token *t)
{
	found(t, "this is %s", t->env->machine);
	return t->env->arch && !strcmp(t->env->arch->name, t->rest);
}

/* The series of a release: 7.3 of 7.3.4; stable updates bring no ABI. */
static unsigned series(const char *release)
{
	unsigned major = 0, minor = 0;

	sscanf(release, "%u.%u", &major, &minor);
	return major << 16 | (minor & 0xffff);
}

static int abi_complete(const struct token *t)
{
	found(t, "%s is newer than the ABI tables, %s", t->env->release, t->env->abi->newest);
	return t->env->attr_size <= t->env->abi->attr_size &&
	       series(t->env->release) <= series(t->env->abi->newest);
}

void mend_versions(const struct abi_mend *m, char *out, size_t size)
{
	size_t count = 0;

	out[0] = '\0';
	while (m->in[count])
		count++;
	for (size_t i = count; i-- > 0;) {
		size_t n = strlen(out);
		bool has_commit = i == count - 1 && m->commit;

		snprintf(out + n, size - n, "%s%s%s%s%s", i == count - 1 ? "" : ", ", m->in[i],
			 has_commit ? " (" : "", has_commit ? m->commit : "",
			 has_commit ? ")" : "");
	}
}

/* The version of "attr.FIELD" or "FAMILY.NAME" in cases/abi, or NULL; *config is what the kernel
 * must be built with for it, or NULL. */
static const char *since_of(const struct abi *abi, const char *name, const char **config)
{
	const char *dot = strchr(name, '.');
	const struct abi_family *family;
	const struct abi_value *value;
	char family_name[32];

	*config = NULL;
	if (!strncmp(name, "attr.", 5)) {
		const struct abi_field *field = abi_field(abi, name + 5);

		return field ? field->since : NULL;
	}
	if (!dot || dot - name >= (long)sizeof(family_name))
		return NULL;
	snprintf(family_name, sizeof(family_name), "%.*s", (int)(dot - name), name);
	family = abi_family(abi, family_name);
	value = family ? abi_value(family, dot + 1, NULL) : NULL;
	*config = value ? json_string_value(json_object_get(value->json, "config")) : NULL;
	return value ? value->since : NULL;
}

static int since(const struct token *t)
{
	const char *config, *version = since_of(t->env->abi, t->rest, &config);
	char built = config ? environment_config(t->env, config) : 0;

	found(t, "it came with %s, this is %s", version, t->env->upstream);
	if (abi_version_compare(t->env->upstream, version) < 0)
		return false;
	if (!config || built == 'y' || built == 'm')
		return true;
	if (built)
		found(t, "this kernel is built without CONFIG_%s", config);
	else
		found(t, "whether CONFIG_%s is set is not known: %s", config, t->env->config_why);
	return built ? false : NOT_KNOWN;
}

static int mend(const struct token *t)
{
	const struct abi_mend *m = abi_mend(t->env->abi, t->rest, NULL);
	char versions[160];

	mend_versions(m, versions, sizeof(versions));
	found(t, "it came with %s, this is %s", versions, t->env->upstream);
	return abi_mend_is_in(m, t->env->upstream);
}

static int hardware_counts(const struct token *t)
{
	const struct hardware *hw = &t->env->hardware;
	const char *name = hw->counting > 0 ? errno_name(hw->counting) : "an event";

	if (hw->wants)
		found(t, "cpu-cycles gives %s, with %s an event", name, hw->wants);
	else
		found(t, "cpu-cycles gives %s", name);
	/* Whoever is refused, or wrong in what he leaves out, cannot tell whether there are any. */
	return hw->counting && hw->counting != ENOENT ? NOT_KNOWN : !hw->counting;
}

static int hardware_samples(const struct token *t)
{
	int err = t->env->hardware.sampling;

	found(t, "cpu-cycles with a sample_period gives %s",
	      err > 0 ? errno_name(err) : "an event");
	return err == EACCES || err == EPERM ? NOT_KNOWN : err == 0;
}

/* A number in a file of the processor's PMU. */
static int hardware_number(const struct token *t)
{
	const char *file = strncmp(t->bare, "rdpmc", 5) ? "caps/max_precise" : "rdpmc";
	char text[32];

	found(t, "no PMU of the processor has %s in sysfs", file);
	if (hardware_file(t->env->pmus, t->env->pmu_count, file, text, sizeof(text)) < 0)
		return NOT_KNOWN;
	found(t, "%s is %s", file, text);
	return compare_numbers(t, strtol(text, NULL, 10));
}

static int sysfs(const struct token *t)
{
	found(t, "/sys/bus/event_source/devices shows no PMU at all");
	return t->env->pmu_count > 0;
}

static int pmu_in_sysfs(const struct token *t, const char *name)
{
	if (!sysfs(t))
		return NOT_KNOWN;
	found(t, "it is not in /sys/bus/event_source/devices");
	return environment_pmu(t->env, name) != NULL;
}

static int hardware_format(const struct token *t)
{
	char file[96], text[64];

	if (!sysfs(t))
		return NOT_KNOWN;
	found(t, "no PMU of the processor has it in its format/");
	snprintf(file, sizeof(file), "format/%s", t->rest);
	return hardware_file(t->env->pmus, t->env->pmu_count, file, text, sizeof(text)) >= 0;
}

static int pmu(const struct token *t)
{
	return pmu_in_sysfs(t, t->bare + strlen("pmu."));
}

/* arch/powerpc's ENODEV; any other refusal is for the cases to tell. */
static int breakpoint(const struct token *t)
{
	bool is_refused = t->env->breakpoint == ENODEV;

	if (!is_refused && !t->env->breakpoint_is_endless)
		return t->env->breakpoint_hits >= 0 ? true /* one was opened */
						    : pmu_in_sysfs(t, "breakpoint");
	found(t, "%s",
	      is_refused ? "the processor has none: an open gives ENODEV"
			 : "a store on one does not end: nothing steps over it");
	return false;
}

static int emulated(const struct token *t)
{
	bool is = is_emulated();

	found(t, is ? "CPUID says TCG: QEMU emulates this processor"
		    : "the processor does not say that it is emulated");
	return is;
}

static int breakpoint_counts(const struct token *t)
{
	int is_there = breakpoint(t);

	if (is_there != true)
		return is_there;
	found(t, "it can be opened, and does not count a store once");
	return t->env->breakpoint_hits < 0 || t->env->breakpoint_hits == 1;
}

static int tracepoint(const struct token *t)
{
	found(t, "%s",
	      t->env->tracefs < 0 && t->env->rights.uid
		      ? "its id cannot be read in tracefs by this uid"
		      : "it is not in tracefs, or tracefs cannot be read");
	return environment_tracepoint(t->env, t->rest) != NULL;
}

static int config(const struct token *t)
{
	char value = environment_config(t->env, t->rest);

	if (value)
		found(t, "it is not set");
	else
		found(t, "the kernel's configuration: %s", t->env->config_why);
	return value ? value == 'y' || value == 'm' : NOT_KNOWN;
}

static int call_is_there(const struct token *t)
{
	found(t, "an open with size 1 gives %s, seccomp mode %d",
	      errno_name(t->env->attr_size_errno), t->env->seccomp);
	return !environment_is_barred(t->env);
}

static int cgroup(const struct token *t)
{
	char path[256];

	found(t, "no such hierarchy is mounted");
	return !environment_cgroup(t->rest, path, sizeof(path));
}

static int file(const struct token *t)
{
	found(t, "%s", strerror(access(t->rest, F_OK) ? errno : 0));
	return access(t->rest, F_OK) == 0;
}

/* The runner's process belongs to another user than the one who will call. */
static int foreign(const struct token *t)
{
	found(t, "the runner is that user itself");
	return t->as != AS_ROOT && t->env->rights.changes_uid;
}

static int quiet(const struct token *t)
{
	if (!other_events_seen(t->env->rights.capabilities)) {
		found(t, "other containers' processes, or other users', cannot be seen");
		return NOT_KNOWN;
	}
	return !other_events(t->env->runner, t->found, t->size);
}

/* The runner settles it: it can run cases. */
static int another_case(const struct token *t)
{
	found(t, "a case that another one requires cannot require one itself");
	return NOT_KNOWN;
}

static int lockdown(const struct token *t)
{
	if (!t->env->lockdown[0]) {
		found(t, "no lockdown level is shown");
		return strcmp(t->rest, "confidentiality") ? NOT_KNOWN : 0; /* that was tried */
	}
	found(t, "lockdown is %s", t->env->lockdown);
	return !strcmp(t->env->lockdown, t->rest);
}

static const char *const cap_names[] = {"ipc-lock", "sys-ptrace", "kill", "sys-admin",
					"syslog",   "perfmon",    NULL};
static const int cap_numbers[] = {CAP_IPC_LOCK,  CAP_SYS_PTRACE, CAP_KILL,
				  CAP_SYS_ADMIN, CAP_SYSLOG,     CAP_PERFMON};

static int cap(const struct token *t)
{
	uint64_t have = identity_capabilities(&t->env->rights, t->as);
	int i = name_index(t->rest, cap_names, NULL);

	found(t, "%s does not have it here", identity_names[t->as]);
	return i < 0 ? NOT_KNOWN : (int)(have >> cap_numbers[i] & 1);
}

/* Levels of perf_event_paranoid above 2 mean what the distribution wants: it is tried. */
static int opens(const struct token *t)
{
	int as = identity_by_name(t->rest), err;

	if (!identity_available(&t->env->rights, (enum identity)as, t->found, t->size))
		return 0;
	err = environment_control(t->env, (enum identity)as);
	found(t, "a plain dummy event gives %s %s, perf_event_paranoid is %d", t->rest,
	      err > 0 ? errno_name(err) : "nothing", t->env->sysctls[SYSCTL_PARANOID]);
	return err < 0 ? NOT_KNOWN : !err;
}

/* To be scheduled by turns with one's own child and nobody else; sched(7). Tried, and taken back.
 */
static int realtime(const struct token *t)
{
	int priority, was = scheduler_get(&priority);

	if (t->as != AS_ROOT) {
		found(t, "%s may not", identity_names[t->as]);
		return 0;
	}
	if (was >= 0 && !scheduler_set(SCHED_FIFO, 1) && !scheduler_set(was, priority))
		return 1;
	found(t, "sched_setscheduler(2) gives %s", strerror(errno));
	return 0;
}

/* What may stand behind a form's name, where that is known: each offers `near` what there is. */

/* security/lockdown/lockdown.c; none where there is no lockdown. */
static const char *const lockdowns[] = {"none", "integrity", "confidentiality", NULL};

/* The architecture of that name, or NULL; `near` (may be NULL) is offered those before it. */
static const struct abi_arch *arch_named(const struct abi *abi, const char *name,
					 struct nearest *near)
{
	for (size_t i = 0; i < abi->arch_count; i++) {
		if (!strcmp(abi->archs[i].name, name))
			return &abi->archs[i];
		if (near)
			nearest_try(near, abi->archs[i].name);
	}
	return NULL;
}

static bool is_arch(const struct abi *abi, const char *rest, struct nearest *near)
{
	return arch_named(abi, rest, near) != NULL;
}

static bool is_hierarchy(const struct abi *abi, const char *rest, struct nearest *near)
{
	(void)abi;
	nearest_try(near, "v2");
	return environment_is_hierarchy(rest);
}

static bool is_tracepoint(const struct abi *abi, const char *rest, struct nearest *near)
{
	const char *colon = strchr(rest, ':');

	(void)abi;
	(void)near;
	return colon && colon > rest && colon[1];
}

static bool has_since(const struct abi *abi, const char *rest, struct nearest *near)
{
	const char *config;

	(void)near;
	return since_of(abi, rest, &config) != NULL;
}

static bool has_mend(const struct abi *abi, const char *rest, struct nearest *near)
{
	return abi_mend(abi, rest, near) != NULL;
}

static const struct form {
	const char *name;
	enum remedy_kind remedy;
	enum { COMPARED, EXACT, NAMED, REPORTED } kind; /* REPORTED: no case can require it */
	int (*met)(const struct token *);
	const char *example, *help;
	/* The question as C, of src/translate/snippets, @ for the rest and ~ for the relation;
	 * NULL: C cannot ask it. */
	const char *in_c;
	/* Of what is NAMED, whether there is such a name; NULL: nobody knows all. What there is. */
	bool (*is_known)(const struct abi *, const char *rest, struct nearest *);
	const char *const *names; /* all that there are, instead; NULL-terminated */
	const char *known;
	/* Words that a case has which needs it, a / between two of which one is enough, @
	 * for the last name of the rest; NULL: none tells. */
	const char *used_by;
	bool of_sysfs;                   /* nobody knows where sysfs shows no PMU at all */
	const struct property *property; /* that is compared, in place of met() */
} forms[] = {
	{"kernel", REMEDY_KERNEL, COMPARED, kernel, "kernel>=5.13",
	 .help = "the version from uname, Debian or Ubuntu; a hint, as distributions backport",
	 .in_c = "version_of(NULL) ~ version_of(\"@\")"},
	{"kptr_restrict", REMEDY_SETTING, COMPARED, kptr_restrict, "kptr_restrict<2",
	 .help = "the kptr_restrict sysctl",
	 .in_c = "(int64_t)number_in(\"/proc/sys/kernel/kptr_restrict\") ~ @"},
	{"bits", REMEDY_KERNEL, COMPARED, bits, "bits==64",
	 .help = "bits of the caller's long, which is perfabi's",
	 .in_c = "(int)sizeof(long) * 8 ~ @"},
	{"compat", REMEDY_KERNEL, EXACT, compat, NULL,
	 .help = "a 32-bit perfabi on a 64-bit kernel"},
	{"abi.complete", REMEDY_KERNEL, EXACT, abi_complete, NULL,
	 .help = "the kernel is not newer than cases/abi"},
	{"since.", REMEDY_KERNEL, NAMED, since, "since.attr.sigtrap",
	 .help = "the kernel has the name, by its version in cases/abi", .is_known = has_since,
	 .known = "attr.FIELD or FAMILY.NAME of cases/abi", .used_by = "@",
	 .in_c = "version_of(NULL) >= version_of(\"@\")"},
	{"mend.", REMEDY_KERNEL, NAMED, mend, "mend.record-header",
	 .help = "the kernel has that fix, by its version in cases/abi/mends.json",
	 .is_known = has_mend, .known = "a fix of cases/abi/mends.json", .in_c = "has_mend(\"@\")"},
	{"sysfs", REMEDY_SETTING, EXACT, sysfs, NULL, .help = "sysfs shows PMUs",
	 .in_c = "file_is_there(\"/sys/bus/event_source/devices/software\")"},
	{"pmu.hw.format.", REMEDY_MACHINE, NAMED, hardware_format, "pmu.hw.format.rdpmc",
	 .help = "a term in sysfs of the processor's PMU",
	 .in_c = "file_is_there(\"/sys/bus/event_source/devices/*/format/@\")", .of_sysfs = true},
	{"pmu.hw.sampling", REMEDY_MACHINE, EXACT, hardware_samples, NULL,
	 .help = "hardware events that can sample",
	 .in_c = "event_opens(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000)"},
	{"pmu.hw", REMEDY_MACHINE, EXACT, hardware_counts, NULL, .help = "hardware events",
	 .in_c = "event_opens(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0)"},
	{"max_precise", REMEDY_MACHINE, COMPARED, hardware_number, "max_precise>=1",
	 .help = "caps/max_precise of the processor's PMU: the highest precise_ip",
	 .of_sysfs = true},
	{"rdpmc", REMEDY_MACHINE, COMPARED, hardware_number, "rdpmc>=1",
	 .help = "rdpmc of the processor's PMU: who may read counters", .of_sysfs = true},
	{"emulated", REMEDY_MACHINE, EXACT, emulated, NULL,
	 .help = "the processor is QEMU without KVM; only x86 can tell"},
	{"breakpoint.counts", REMEDY_MACHINE, EXACT, breakpoint_counts, NULL,
	 .help = "a breakpoint opens and counts a store once; on some emulators it does not",
	 .in_c = "breakpoint_counts()", .used_by = "breakpoint workload/address", .of_sysfs = true},
	{"breakpoint", REMEDY_MACHINE, EXACT, breakpoint, NULL,
	 .help = "a breakpoint PMU, on a processor with breakpoint registers",
	 .in_c = "file_is_there(\"/sys/bus/event_source/devices/breakpoint\") || "
		 "breakpoint_counts()",
	 .used_by = "breakpoint", .of_sysfs = true},
	{"foreign-process", REMEDY_RIGHTS, EXACT, foreign, NULL,
	 .help = "the runner belongs to another user than the caller"},
	{"arch.", REMEDY_MACHINE, NAMED, arch, "arch.x86",
	 .help = "x86, arm64, arm, powerpc, s390, riscv, ... as in cases/abi", .is_known = is_arch,
	 .known = "an architecture of cases/abi", .in_c = "machine_is(\"@\")"},
	{"pmu.kprobe", REMEDY_KERNEL, EXACT, pmu, NULL,
	 .help = "a PMU in sysfs, of CONFIG_KPROBE_EVENTS",
	 .in_c = "file_is_there(\"/sys/bus/event_source/devices/kprobe\")", .of_sysfs = true},
	{"pmu.uprobe", REMEDY_KERNEL, EXACT, pmu, NULL,
	 .help = "a PMU in sysfs, of CONFIG_UPROBE_EVENTS",
	 .in_c = "file_is_there(\"/sys/bus/event_source/devices/uprobe\")", .of_sysfs = true},
	{"pmu.", REMEDY_MACHINE, NAMED, pmu, "pmu.intel_pt", .used_by = "@",
	 .help = "any other PMU in sysfs",
	 .in_c = "file_is_there(\"/sys/bus/event_source/devices/@\")", .of_sysfs = true},
	{"tracepoint.", REMEDY_SETTING, NAMED, tracepoint, "tracepoint.sched:sched_switch",
	 .used_by = "@", .help = "a tracepoint in tracefs", .is_known = is_tracepoint,
	 .known = "a tracepoint, as SYSTEM:EVENT", .in_c = "has_tracepoint(\"@\")"},
	{"config.", REMEDY_KERNEL, NAMED, config, "config.KPROBES",
	 .help = "the kernel's configuration, y or m", .in_c = "has_config(\"@\")"},
	{"cgroup.", REMEDY_SETTING, NAMED, cgroup, "cgroup.v2", .used_by = "cgroup",
	 .help = "a mounted hierarchy: v2, or v1.CONTROLLER", .is_known = is_hierarchy,
	 .known = "a hierarchy: v2 or v1.CONTROLLER"},
	{"realtime", REMEDY_RIGHTS, EXACT, realtime, NULL,
	 .help = "the caller may be scheduled as SCHED_FIFO"},
	{"as.", REMEDY_RIGHTS, NAMED, opens, "as.perfmon",
	 .help = "perfabi can become that caller, who can open events here",
	 .names = identity_names, .known = "an identity: root, perfmon, sys-admin or user"},
	{"cap.", REMEDY_RIGHTS, NAMED, cap, "cap.ipc-lock",
	 .help = "a capability of the caller: ipc-lock, sys-ptrace, ...", .names = cap_names,
	 .known = "a capability: ipc-lock, kill, perfmon, sys-admin, sys-ptrace or syslog"},
	{"lockdown.", REMEDY_SETTING, NAMED, lockdown, "lockdown.none",
	 .help = "the kernel's lockdown level, where securityfs shows it; else only "
		 "confidentiality can be told, by what it refuses",
	 .names = lockdowns, .known = "a level of lockdown: none, integrity or confidentiality"},
	{"quiet", REMEDY_QUIET, EXACT, quiet, NULL,
	 .help = "no other process has an event open, as far as root outside containers can see"},
	{"case.machine.quiet.", REMEDY_QUIET, NAMED, another_case, "case.machine.quiet.bpf",
	 .help = "that case, run just before, finds nobody else doing what it looks for"},
	{"case.", REMEDY_MACHINE, NAMED, another_case, "case.machine.bpf.jit",
	 .help = "that case, run just before, passes; a capability answers yes"},
	{"file:", REMEDY_SETTING, NAMED, file, "file:/proc/kallsyms", .help = "an existing file",
	 .in_c = "file_is_there(\"@\")"},
	{"perf_event_open", REMEDY_SETTING, EXACT, call_is_there, NULL,
	 .help = "the kernel has the call, and seccomp allows it; every case requires it, but for "
		 "those that require its opposite",
	 .in_c = "opens_reach_kernel()"},
	/* Reports skip cases for these, too. */
	{"machine.lock", REMEDY_RIGHTS, REPORTED, NULL, NULL,
	 .help = "perfabi can keep other runs off the machine while the case changes a sysctl"},
	{"machine.expendable", REMEDY_RIGHTS, REPORTED, NULL, NULL,
	 .help = "--expendable: the machine may be left changed"},
	{"sysctl.", REMEDY_KERNEL, REPORTED, NULL, "sysctl.perf_event_paranoid",
	 .help = "the sysctl that the case changes can be written"},
	{"cpu.", REMEDY_SETTING, REPORTED, NULL, "cpu.1",
	 .help = "perfabi may run on the cpu that the case names"},
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

/* The vocabulary: properties of the machine, and the rest. False behind the last. */
static bool form_at(size_t i, struct form *out)
{
	const struct property *p;

	for (size_t k = 0; (p = property_at(k)); k++) {
		if (!p->token.name || i--)
			continue;
		*out = (struct form){.name = p->token.name,
				     .remedy = p->token.remedy,
				     .kind = COMPARED,
				     .example = p->token.example,
				     .help = p->token.help,
				     .in_c = p->token.in_c,
				     .property = p};
		return true;
	}
	if (i < FORMS)
		*out = forms[i];
	return i < FORMS;
}

static const char *example_of(const struct form *form)
{
	return form->example ? form->example : form->name;
}

static void help_on(FILE *f, bool is_reported, const char *indent)
{
	struct form form;

	for (size_t i = 0; form_at(i, &form); i++)
		if ((form.kind == REPORTED) == is_reported)
			fprintf(f, "%s%-30s %s\n", indent, example_of(&form), form.help);
}

void require_help(FILE *f)
{
	help_on(f, false, "  ");
	fputs("\nReports also skip cases for these, which no case can require:\n\n", f);
	help_on(f, true, "    "); /* deeper: these are none of a case */
}

/* "6.18.44", or a number, which may be negative. */
static bool is_version(const char *text)
{
	size_t n;

	text += text[0] == '-';
	while ((n = strspn(text, "0123456789")) && text[n] == '.')
		text += n + 1;
	return n && !text[n];
}

static bool find_form(const char *token, struct form *form, struct token *out)
{
	for (size_t i = 0; form_at(i, form); i++) {
		size_t n = strlen(form->name);

		if (strncmp(token, form->name, n))
			continue;
		out->bare = token;
		out->rest = token + n;
		if (form->kind == COMPARED) {
			out->relation = relations;
			while (out->relation->sign &&
			       strncmp(out->rest, out->relation->sign, strlen(out->relation->sign)))
				out->relation++;
			if (!out->relation->sign)
				continue;
			out->rest += strlen(out->relation->sign);
			if (is_version(out->rest))
				return true;
		} else if (form->kind == REPORTED ||
			   (form->kind == NAMED) == (out->rest[0] != '\0')) {
			return true;
		}
	}
	return false;
}

static int check_rest(const struct form *form, const char *rest, const struct abi *abi,
		      const struct where *w, struct error *e)
{
	static const char characters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,:/+@= ";
	struct nearest near = nearest_to(rest);

	/* A program of `show --c` puts it between quotes of C and of a shell. */
	if (form->kind == NAMED && rest[strspn(rest, characters)])
		return error_name(e, w, rest, NULL, "letters, digits, spaces and _-.,:/+@= alone");
	/* Behind an exec there is no ABI, and what comes there was checked before it. */
	if (!abi || (form->names      ? name_index(rest, form->names, &near) >= 0
		     : form->is_known ? form->is_known(abi, rest, &near)
				      : true))
		return 0;
	return error_name(e, w, rest, near.best, "%s", form->known);
}

int require_check(const char *token, const struct abi *abi, const struct where *w, struct error *e)
{
	const char *bare = token[0] == '!' ? token + 1 : token;
	struct nearest near = nearest_to(bare);
	struct token parsed;
	struct form form;
	bool known = find_form(bare, &form, &parsed) && form.kind != REPORTED;

	if (known && form.met == kernel && parsed.relation->sign[0] == (bare > token ? '<' : '>') &&
	    strncmp(parsed.rest, "2.6.", 4) != 0 &&
	    strchr(parsed.rest, '.') != strrchr(parsed.rest, '.'))
		return error_name(e, w, token, NULL,
				  "a version of two numbers, or a mend of cases/abi/mends.json: "
				  "what one stable branch has from there on, a later one need not");
	if (known)
		return check_rest(&form, parsed.rest, abi, w, e);
	for (size_t i = 0; form_at(i, &form); i++)
		if (form.kind != REPORTED)
			nearest_try(&near, example_of(&form));
	return error_name(e, w, token, near.best,
			  "a token, such as kernel>=5.13 (perfabi help tokens)");
}

/*
 * Whether what is done has the word, or a number for the family of names that the word belongs to.
 * As deep as the JSON. NOLINTNEXTLINE(misc-no-recursion)
 */
static bool json_has(const json_t *json, const char *word, const char *family)
{
	static const char *const told[] = {"requires", "spec", "title", "name",
					   "covers",   "each", NULL};
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(json) && ascii_has_name(json_string_value(json), word))
		return true;
	json_array_foreach(json, i, item)
		if (json_has(item, word, family))
			return true;
	json_object_foreach((json_t *)json, key, item)
		if (name_index(key, told, NULL) < 0 &&
		    (ascii_has_name(key, word) ||
		     ((json_is_string(item) || json_is_integer(item)) && !strcmp(key, family)) ||
		     json_has(item, word, family)))
			return true;
	return false;
}

bool require_may_be_tried(const char *token, const struct environment *env)
{
	return !env->breakpoint_is_endless || strncmp(token, "breakpoint", 10) != 0;
}

bool require_is_used(const char *token, const json_t *definition)
{
	char family[REQUIRE_TOKEN] = "", words[REQUIRE_TOKEN], *word, *next;
	struct token parsed;
	const char *name;
	struct form form;

	if (!find_form(token, &form, &parsed) || !form.used_by || strpbrk(token, "!|"))
		return true;
	name = strrchr(parsed.rest, '.');
	if (form.kind == NAMED && name)
		snprintf(family, sizeof(family), "%.*s", (int)(name - parsed.rest), parsed.rest);
	snprintf(words, sizeof(words), "%s", form.used_by);
	for (word = strtok_r(words, " ", &next); word; word = strtok_r(NULL, " ", &next)) {
		char * or = strchr(word, '/');

		if (or)
			* or ++ = '\0';
		if (!strcmp(word, "@"))
			word = (char *)(name ? name + 1 : parsed.rest);
		if (!json_has(definition, word, family) &&
		    (! or || !json_has(definition, or, family)))
			return false;
	}
	return true;
}

const char *require_next(const char **tokens, char *one, size_t size)
{
	size_t n = strcspn(*tokens, "|");

	if (!**tokens)
		return NULL;
	snprintf(one, size, "%.*s", (int)n, *tokens);
	*tokens += n + ((*tokens)[n] == '|');
	return one;
}

int require_check_any(const char *tokens, const struct abi *abi, const struct where *w,
		      struct error *e)
{
	char one[REQUIRE_TOKEN];
	int err = 0;

	while (!err && tokens[0]) {
		if (strcspn(tokens, "|") >= sizeof(one))
			return error_text(e, w, tokens, "tokens of at most %d bytes",
					  REQUIRE_TOKEN - 1);
		require_next(&tokens, one, sizeof(one));
		err = require_check(one, abi, w, e);
	}
	return err;
}

int require_truth(struct environment *env, const char *token, enum identity as, char *found,
		  size_t size)
{
	bool negated = token[0] == '!';
	struct token parsed = {.as = as, .env = env, .found = found, .size = size};
	struct form form;
	int met = NOT_KNOWN;

	snprintf(found, size, "this machine does not say");
	if (find_form(token + negated, &form, &parsed))
		met = form.property ? compare_property(form.property, &parsed)
		      : form.met    ? form.met(&parsed)
				    : NOT_KNOWN;
	if (met == NOT_KNOWN)
		return NOT_KNOWN;
	if (negated && met)
		snprintf(found, size, "%.*s holds here", (int)size - 16, token + 1);
	return (met != 0) != negated;
}

bool require_any_met(struct environment *env, const char *tokens, enum identity as, char *found,
		     size_t size)
{
	char one[REQUIRE_TOKEN];
	bool met = false;

	while (!met && require_next(&tokens, one, sizeof(one)))
		met = require_truth(env, one, as, found, size) == 1;
	return met;
}

const char *require_case_id(const char *token)
{
	token += token[0] == '!';
	return strncmp(token, "case.", 5) ? NULL : token + 5;
}

const struct abi_arch *require_arch(const char *token, const struct abi *abi)
{
	return strncmp(token, "arch.", 5) ? NULL : arch_named(abi, token + 5, NULL);
}

const char *const remedy_names[REMEDY_KINDS] = {
	[REMEDY_RIGHTS] = "run as root, or at a lower perf_event_paranoid",
	[REMEDY_SETTING] = "mount or load what is missing, or set a sysctl or a limit",
	[REMEDY_QUIET] = "run while nobody else uses perf",
	[REMEDY_KERNEL] = "run on another kernel, or another build of perfabi",
	[REMEDY_MACHINE] = "run on other hardware, or under another hypervisor"};

static enum remedy_kind remedy_of(const char *token, const struct environment *env)
{
	struct token parsed;
	struct form form;

	if (!find_form(token + (token[0] == '!'), &form, &parsed))
		return REMEDY_MACHINE;
	if (token[0] == '!' && form.remedy == REMEDY_SETTING) /* it is not missing */
		return REMEDY_KERNEL;
	return form.of_sysfs && !env->pmu_count ? REMEDY_SETTING : form.remedy;
}

enum remedy_kind require_remedy(const char *tokens, const struct environment *env)
{
	enum remedy_kind easiest = REMEDY_MACHINE;
	char one[REQUIRE_TOKEN];

	while (require_next(&tokens, one, sizeof(one)))
		if (remedy_of(one, env) < easiest)
			easiest = remedy_of(one, env);
	return easiest;
}

/* What stands for @: of an architecture what uname(2) calls it, of a name its version. */
static void rest_in_c(FILE *f, const struct form *form, const char *rest, const struct abi *abi)
{
	const char *config = NULL;

	if (form->met == since)
		fputs(since_of(abi, rest, &config), f);
	else if (form->met == mend)
		for (const char *const *in = abi_mend(abi, rest, NULL)->in; *in; in++)
			fprintf(f, "%s ", *in);
	else if (form->met == arch)
		for (const char *const *is = arch_named(abi, rest, NULL)->machines; *is; is++)
			fprintf(f, " %s ", *is);
	else
		fputs(rest, f);
	if (config)
		fprintf(f, "\") && has_config(\"%s", config);
}

bool require_in_c(FILE *f, const char *tokens, const struct abi *abi)
{
	char one[REQUIRE_TOKEN];
	const char *joint = "";

	while (require_next(&tokens, one, sizeof(one))) {
		const bool negated = one[0] == '!';
		struct token parsed;
		struct form form;

		if (!find_form(one + negated, &form, &parsed) || !form.in_c)
			return false;
		fprintf(f, "%s%s", joint, negated ? "!(" : "");
		for (const char *c = form.in_c; *c; c++)
			if (*c == '@')
				rest_in_c(f, &form, parsed.rest, abi);
			else if (*c == '~')
				fputs(parsed.relation->sign, f);
			else
				fputc(*c, f);
		fputs(negated ? ")" : "", f);
		joint = " || ";
	}
	return true;
}

bool require_is_fleeting(const char *tokens)
{
	char one[REQUIRE_TOKEN];
	bool found = false;

	while (!found && require_next(&tokens, one, sizeof(one)))
		found = require_case_id(one) || !strcmp(one, "quiet");
	return found;
}

const char *require_control(const char *tokens)
{
	const char *next = tokens;
	char one[REQUIRE_TOKEN];

	if (require_is_fleeting(tokens))
		return tokens;
	while (require_next(&next, one, sizeof(one)))
		if (!strncmp(one, "breakpoint", strlen("breakpoint")))
			return "case.machine.quiet.debug-registers";
	return NULL;
}
