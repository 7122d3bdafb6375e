/* SPDX-License-Identifier: MIT */
/*
 * Reading the machine: uname, /proc, /sys, and three probes by open that are not under test.
 */
#include "machine/environment.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <mntent.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "abi/attr.h"
#include "machine/host.h"
#include "machine/limits.h"
#include "machine/names.h"
#include "machine/proc.h"
#include "machine/sysctl.h"
#include "text/json_text.h"

#ifndef FUSE_SUPER_MAGIC /* in <linux/magic.h> since Linux 5.18 */
#define FUSE_SUPER_MAGIC 0x65735546
#endif

/*
 * Opens by which perfabi learns what a machine has.
 */

enum { FD_CLOEXEC_FLAG = 1 << 3 }; /* PERF_FLAG_FD_CLOEXEC */

/*
 * The attr that a text in JSON describes, opened on the caller's task on any cpu. A file descriptor
 * that is the caller's, or a negative errno; in *size, unless it is NULL, what attr.size is then.
 */
static int probe_open(const struct abi *abi, const char *json_text, uint64_t *size)
{
	unsigned char *attr = or_exit(calloc(1, abi->attr_size));
	json_t *json = json_loads(json_text, 0, NULL);
	struct where nowhere = {0};
	struct error e = {0};
	long fd;
	int err;

	err = attr_from_json(abi, NULL, json, NULL, &nowhere, attr, &e);
	json_decref(json);
	fd = err ? err
		 : syscall(SYS_perf_event_open, attr, 0, -1, -1, (unsigned long)FD_CLOEXEC_FLAG);
	if (!err && fd < 0)
		fd = -errno;
	if (size)
		*size = attr_get(abi_field(abi, "size"), attr, host_order());
	free(attr);
	return (int)fd;
}

/* The same, closed again: 0, or the errno that it gave. */
static int probe_errno(const struct abi *abi, const char *json_text, uint64_t *size)
{
	int fd = probe_open(abi, json_text, size);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -fd : 0;
}

/*
 * What this machine has of hardware events.
 */

#define CYCLES "\"type\":\"hardware\",\"config\":\"cpu_cycles\",\"size\":64"
#define USER "\"exclude_kernel\":1,\"exclude_hv\":1"

/* What a PMU takes that refuses to leave out the kernel alone. */
static const char *find_wants(const struct abi *abi)
{
	/* m1_pmu_set_event_filter() */
	if (!probe_errno(abi, "{" CYCLES ",\"disabled\":1," USER ",\"exclude_guest\":1}", NULL))
		return "exclude_guest";
	/* PERF_PMU_CAP_NO_EXCLUDE */
	if (!probe_errno(abi, "{" CYCLES ",\"disabled\":1}", NULL))
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
	cpu_set_t one;
	uint64_t before;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return false;
	before = time_running(fd); /* what came on the way here is of the cpu before */
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

/* Opens, and runs for a moment on each cpu of `usable`; the caller's affinity is as it was then. */
static void hardware_probe(struct hardware *hardware, const struct abi *abi,
			   const cpu_set_t *usable)
{
	int fd = probe_open(abi, "{" CYCLES "," USER ",\"read_format\":[\"total_time_running\"]}",
			    NULL);

	*hardware = (struct hardware){.counting = fd < 0 ? -fd : 0, .cpus = *usable};
	hardware->sampling = probe_errno(
		abi, "{" CYCLES ",\"disabled\":1," USER ",\"sample_period\":1000000}", NULL);
	if (fd < 0) {
		hardware->wants = find_wants(abi);
		return;
	}
	find_cpus(hardware, fd, usable);
	close(fd);
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
static void hardware_read_files(struct pmu *pmu)
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
	/* Of two kinds of cores, plain events are those of the kind whose PMU has the type raw. */
	for (size_t i = 0; i < 2 * count; i++) {
		const struct pmu *pmu = &pmus[i % count];
		const char *name = pmu->name;
		char path[320];

		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpus", name);
		if ((pmu->type == PERF_TYPE_RAW) != (i < count) ||
		    (strcmp(name, "cpu") != 0 && access(path, F_OK)))
			continue;
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", name, file);
		if (read_line(path, text, size) >= 0)
			return (int)strlen(text);
	}
	text[0] = '\0';
	return -ENOENT;
}

/*
 * zlib reads what is packed and what is not.
 */

enum { CONFIG_MAX = 8 << 20, PIECE = 65536 };

/* Appends all of it; the length, or -1. */
static long append(gzFile file, char **text)
{
	size_t size = 0;
	int n;

	do {
		*text = or_exit(realloc(*text, size + PIECE + 1));
		n = gzread(file, *text + size, PIECE);
		size += n > 0 ? (size_t)n : 0;
	} while (n > 0 && size <= CONFIG_MAX);
	return n ? -1 : (long)size;
}

/* What a file is packed by that zlib takes for plain; NULL: nothing that is known. */
static const char *packing(const char *text, size_t size)
{
	static const struct {
		const char *magic, *name;
	} packings[] = {{"\xfd\x37zXZ", "xz"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"BZh", "bzip2"}};

	for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++) {
		size_t n = strlen(packings[i].magic);

		if (size >= n && !memcmp(text, packings[i].magic, n))
			return packings[i].name;
	}
	return NULL;
}

/* Whether it is a configuration; else `why` says what it is. */
static bool is_config(const char *text, size_t size, const char *path, char *why, size_t why_size)
{
	const char *by = packing(text, size);

	if (by)
		snprintf(why, why_size, "%s is packed by %s; perfabi reads gzip and plain text",
			 path, by);
	else
		snprintf(why, why_size, "%s has no line that begins with CONFIG_", path);
	return !by && strstr(text, "\nCONFIG_");
}

/*
 * The file as text, packed by gzip(1) or plain; free() it. NULL if it cannot be read, has over
 * 8 MiB or is none: then `why` says so.
 */
static char *kernel_config_read(const char *path, char *why, size_t why_size)
{
	gzFile file = path[0] ? gzopen(path, "re") : NULL;
	char *text = NULL;
	long size = file ? append(file, &text) : -1;

	if (file && gzclose(file) != Z_OK)
		size = -1;
	snprintf(why, why_size, path[0] ? "%s cannot be read" : "%sthere is no file of it", path);
	if (size >= 0)
		text[size] = '\0';
	if (size >= 0 && is_config(text, (size_t)size, path, why, why_size))
		return text;
	free(text);
	return NULL;
}

/* Copies the version that `text` begins with if it has three numbers, the first two those of
 * `release`. */
static bool take(const char *text, const char *release, char *out, size_t size)
{
	unsigned ours[2], theirs[3];

	if (sscanf(release, "%u.%u", &ours[0], &ours[1]) != 2 ||
	    sscanf(text, "%u.%u.%u", &theirs[0], &theirs[1], &theirs[2]) != 3 ||
	    ours[0] != theirs[0] || ours[1] != theirs[1])
		return false;
	snprintf(out, size, "%u.%u.%u", theirs[0], theirs[1], theirs[2]);
	return true;
}

void upstream_version(const char *release, const char *version, const char *signature, char *out,
		      size_t size)
{
	static const char debian[] = "Debian ";
	const char *found = strstr(version, debian), *last = strrchr(signature, ' ');

	if ((found && take(found + strlen(debian), release, out, size)) ||
	    (last && take(last + 1, release, out, size)))
		return;
	snprintf(out, size, "%s", release);
}

/*
 * A mount is found by what is mounted there, not by its name.
 */

static int open_mounted(long magic, const char *path)
{
	struct statfs st;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!fstatfs(fd, &st) && (long)st.f_type == magic)
		return fd;
	close(fd);
	return -1;
}

static int mount_detached(const char *type)
{
	int mount = -1;
#ifdef SYS_fsopen
	int fs = (int)syscall(SYS_fsopen, type, 1U /* FSOPEN_CLOEXEC */);

	if (fs >= 0 && !syscall(SYS_fsconfig, fs, 6U /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0))
		mount = (int)syscall(SYS_fsmount, fs, 1U /* FSMOUNT_CLOEXEC */, 0U);
	if (fs >= 0)
		close(fs);
#else
	(void)type;
#endif
	return mount;
}

int tracefs_open_as(const char *type, long magic, const char *const paths[])
{
	int mount, fd;

	for (size_t i = 0; paths[i]; i++) {
		fd = open_mounted(magic, paths[i]);
		if (fd >= 0)
			return fd;
	}
	mount = mount_detached(
		type); /* as O_PATH has it: what is locked or listed is opened anew */
	fd = mount < 0 ? -1 : openat(mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount >= 0)
		close(mount);
	return fd;
}

int tracefs_open(void)
{
	static const char *const paths[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
					    NULL};

	return tracefs_open_as("tracefs", TRACEFS_MAGIC, paths);
}

/*
 * Reading format/ in a PMU's folder in sysfs.
 */

int pmu_term(const char *pmu, const char *name, uint64_t value, json_t *attr)
{
	char path[512], format[128], *at;
	const char *before;
	uint64_t word;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/%s", pmu, name);
	if (read_line(path, format, sizeof(format)) < 0)
		return -ENOENT;
	at = strchr(format, ':');
	if (!at)
		return -EINVAL;
	*at++ = '\0';
	before = json_string_value(json_object_get(attr, format));
	word = before ? strtoull(before, NULL, 0) : 0;
	while (at && *at) { /* "0-7,32-35" */
		char *end;
		unsigned long first = strtoul(at, &end, 10), last = first;
		char text[24];

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last > 63 || first > last)
			return -EINVAL;
		for (unsigned long bit = first; bit <= last; bit++, value >>= 1)
			word |= (value & 1) << bit;
		at = *end == ',' ? end + 1 : NULL;
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)word);
		json_object_set_new(attr, format, json_string(text));
	}
	return 0;
}

bool pmu_term_value(char *term, uint64_t *value)
{
	char *at = strchr(term, '='), *end = at;

	*value = 1;
	if (!at)
		return true;
	*at++ = '\0';
	errno = 0;
	*value = strtoull(at, &end, 0);
	return isdigit((unsigned char)*at) && !*end && !errno;
}

int pmu_terms(const char *pmu, char *terms, json_t *attr)
{
	char *save = NULL;
	uint64_t value;
	int err = 0;

	for (char *term = strtok_r(terms, ",", &save); term && !err;
	     term = strtok_r(NULL, ",", &save))
		err = pmu_term_value(term, &value) ? pmu_term(pmu, term, value, attr) : -ERANGE;
	return err;
}

static int number_in(const char *path, int absent)
{
	char text[32], *end;
	long n;

	read_line(path, text, sizeof(text));
	n = strtol(text, &end, 10);
	return end == text ? absent : (int)n;
}

/* Of the kernel's long, as far as uname tells; setarch(8) changes what it tells a 32-bit program.
 */
static unsigned read_kernel_bits(void)
{
	int was = personality(0xffffffff); /* which tells the one that is set */
	struct utsname u;
	int err;

	if (sizeof(long) == 8)
		return 64;
	if (was >= 0)
		personality((unsigned long)was & ~(unsigned long)PER_MASK);
	err = uname(&u);
	if (was >= 0)
		personality((unsigned long)was);
	return !err && (strstr(u.machine, "64") || !strcmp(u.machine, "s390x")) ? 64 : 32;
}

static void read_uname(struct environment *env)
{
	struct utsname u;
	char signature[128];

	if (uname(&u))
		return;
	snprintf(env->release, sizeof(env->release), "%s", u.release);
	snprintf(env->version, sizeof(env->version), "%s", u.version);
	snprintf(env->machine, sizeof(env->machine), "%s", u.machine);
	read_line("/proc/version_signature", signature, sizeof(signature));
	upstream_version(u.release, u.version, signature, env->upstream, sizeof(env->upstream));
	env->arch = env->abi ? abi_arch(env->abi, env->machine) : NULL;
	env->kernel_bits = read_kernel_bits();
}

/* The value behind "Key:" in /proc/self/status. */
static unsigned long long status_number(const char *text, const char *key, int base)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, base) : 0;
}

static void read_self(struct environment *env)
{
	char text[4096], map[64];
	unsigned first, outside, count;
	struct rlimit limit = {0};
	uint64_t raises;

	read_small("/proc/self/status", text, sizeof(text));
	env->runner = getpid();
	env->rights.uid = geteuid();
	env->rights.capabilities = identity_effective();
	env->no_new_privs = status_number(text, "\nNoNewPrivs:", 10) != 0;
	env->seccomp = (int)status_number(text, "\nSeccomp:", 10);
	/* Without the file there are no others; it is empty where no uid has been mapped yet. */
	env->rights.init_user_namespace = read_line("/proc/self/uid_map", map, sizeof(map)) < 0 ||
					  (sscanf(map, "%u %u %u", &first, &outside, &count) == 3 &&
					   !first && !outside && count == UINT32_MAX);
	env->rights.has_perfmon = identity_kernel_has(CAP_PERFMON);
	env->rights.changes_uid = identity_changes_uid(&env->rights);
	/* The kernel asks the first namespace whether a hard limit may be raised. */
	raises = env->rights.init_user_namespace ? env->rights.capabilities : 0;
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		env->nofile = limits_hard(limit.rlim_max, LIMITS_FILES, raises);
	if (!getrlimit(RLIMIT_MEMLOCK, &limit)) {
		env->memlock_soft = limit.rlim_cur;
		env->memlock = limits_hard(limit.rlim_max, RLIM_INFINITY, raises);
	}
	if (!getrlimit(RLIMIT_SIGPENDING, &limit))
		env->sigpending = limits_hard(limit.rlim_max, LIMITS_SIGNALS, raises);
	if (!getrlimit(RLIMIT_FSIZE, &limit))
		env->fsize = limits_hard(limit.rlim_max, LIMITS_FILE_BYTES, raises);
	if (!getrlimit(RLIMIT_STACK, &limit))
		env->stack = limit.rlim_cur;
}

/* Whether a file of sysfs or proc is another that FUSE has put over it. */
static bool is_fuse(const char *path)
{
	struct statfs st;

	return !statfs(path, &st) && (long)st.f_type == FUSE_SUPER_MAGIC;
}

/* How many cpus there are to run on, and which could be asked for. */
static void read_cpus(struct environment *env)
{
	cpu_set_t allowed;
	char possible[4096];

	env->cpus_filtered = is_fuse("/sys/devices/system/cpu/online") || is_fuse("/proc/stat");
	env->cpus_possible = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	env->cpus_online = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	env->cpus_allowed = env->cpus_online;
	read_line("/sys/devices/system/cpu/possible", possible, sizeof(possible));
	read_line("/sys/devices/system/cpu/online", env->online, sizeof(env->online));
	cpu_list_settle(possible, sizeof(possible));
	cpu_list_settle(env->online, sizeof(env->online));
	env->cpu_limit = cpu_list_end(possible);
	if (!usable_cpus(&env->cpus_usable, &allowed, sizeof(allowed)))
		env->cpus_allowed = (unsigned)CPU_COUNT(&allowed);
	else /* more than CPU_SETSIZE: all, then */
		memset(&env->cpus_usable, 0xff, sizeof(env->cpus_usable));
}

void environment_read_sysctls(struct environment *env)
{
	for (size_t i = 0; sysctl_names[i]; i++) {
		long value;

		env->sysctls[i] = sysctl_read(sysctl_names[i], &value) ? SYSCTL_ABSENT : (int)value;
	}
}

static int pmu_order(const void *a, const void *b)
{
	return strcmp(((const struct pmu *)a)->name, ((const struct pmu *)b)->name);
}

static void read_pmus(struct environment *env)
{
	static const char folder[] = "/sys/bus/event_source/devices";
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct pmu pmu = {0};
		char path[sizeof(folder) + sizeof(entry->d_name) + 8];
		int type;

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(pmu.name))
			continue;
		snprintf(path, sizeof(path), "%s/%s/type", folder, entry->d_name);
		type = number_in(path, -1);
		if (type < 0)
			continue;
		memcpy(pmu.name, entry->d_name, strlen(entry->d_name));
		pmu.type = (uint32_t)type;
		hardware_read_files(&pmu);
		env->pmus = or_exit(realloc(env->pmus, (env->pmu_count + 1) * sizeof(pmu)));
		env->pmus[env->pmu_count++] = pmu;
	}
	if (dir)
		closedir(dir);
	if (env->pmus)
		qsort(env->pmus, env->pmu_count, sizeof(*env->pmus), pmu_order);
}

static void read_container(struct environment *env)
{
	const char *name = getenv("container");
	char text[64];

	if (name)
		snprintf(env->container, sizeof(env->container), "%.31s", name);
	else if (!access("/.dockerenv", F_OK))
		snprintf(env->container, sizeof(env->container), "docker");
	else if (!access("/run/.containerenv", F_OK))
		snprintf(env->container, sizeof(env->container), "podman");
	else {
		read_line("/run/systemd/container", text, sizeof(text));
		snprintf(env->container, sizeof(env->container), "%.31s", text);
	}
}

/*
 * What a breakpoint counts of one store into the word that it is on; -1: not known. In a process of
 * its own: where a processor cannot step over the store, as in some emulators, it is done again
 * without end.
 */
static int count_a_store(const struct abi *abi, const char *json_text, volatile uint32_t *word,
			 bool *is_endless)
{
	enum { MOST = 100 };
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		uint64_t count = 0;
		int fd;

		signal(SIGPROF, SIG_DFL);
		setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = 1}, NULL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = probe_open(abi, json_text, NULL);
		*word = 1;
		if (fd < 0 || read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
			_exit(0);
		_exit(count < MOST ? (int)count + 1 : MOST + 1);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*is_endless = pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
	return WIFEXITED(status) ? WEXITSTATUS(status) - 1 : *is_endless ? MOST : -1;
}

/*
 * Some processors have no breakpoints though the kernel has the PMU, and some emulators and
 * hypervisors take them and do not count. Whatever else comes, a breakpoint is taken to be had:
 * cases tell.
 */
static void probe_breakpoint(struct environment *env)
{
	static const char format[] =
		"{\"type\":\"breakpoint\",\"bp_type\":[\"w\"],\"bp_addr\":%llu,\"bp_len\":%d,"
		"\"size\":72,\"exclude_kernel\":1,\"exclude_hv\":1}";
	_Alignas(8) volatile uint32_t word = 0;
	unsigned long long at = (uintptr_t)&word;
	char json_text[160];
	int wide;

	snprintf(json_text, sizeof(json_text), format, at, 8);
	wide = probe_errno(env->abi, json_text, NULL);
	snprintf(json_text, sizeof(json_text), format, at, 4);
	env->breakpoint = probe_errno(env->abi, json_text, NULL);
	/* What is refused with any length is for the cases to tell. */
	env->breakpoint_bytes = wide && !env->breakpoint ? 4 : 8;
	env->breakpoint_hits = env->breakpoint ? -1
					       : count_a_store(env->abi, json_text, &word,
							       &env->breakpoint_is_endless);
}

static int probe_control(void *abi)
{
	return probe_errno(abi,
			   "{\"type\":\"software\",\"config\":\"dummy\",\"size\":64,"
			   "\"disabled\":1,\"exclude_kernel\":1,\"exclude_hv\":1}",
			   NULL);
}

/* "none [integrity] confidentiality" -> integrity. Containers do not see the file: there, try what
 * only confidentiality refuses (LOCKDOWN_PERF of sys_perf_event_open()). */
static void read_lockdown(struct environment *env)
{
	static const char registers[] =
		"{\"type\":\"software\",\"config\":\"dummy\",\"size\":104,\"disabled\":1,"
		"\"exclude_kernel\":1,\"exclude_hv\":1,"
		"\"sample_type\":[\"regs_intr\"],\"sample_regs_intr\":1}";
	char text[96], *open;

	read_line("/sys/kernel/security/lockdown", text, sizeof(text));
	open = strchr(text, '[');
	if (open) {
		open++;
		open[strcspn(open, "]")] = '\0';
		snprintf(env->lockdown, sizeof(env->lockdown), "%.31s", open);
	} else if (!probe_control((void *)(uintptr_t)env->abi) &&
		   probe_errno(env->abi, registers, NULL) == EPERM) {
		snprintf(env->lockdown, sizeof(env->lockdown), "confidentiality");
	}
}

/* The kernel looks at the flags first, and says EINVAL to such: another answer is not its own. */
static int errno_of_bad_flags(void)
{
	long fd = syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0UL);
	int err = fd < 0 ? errno : 0;

	if (fd >= 0)
		close((int)fd);
	return err;
}

bool environment_is_barred(const struct environment *env)
{
	int err = env->attr_size_errno;

	/* Else nothing but the kernel can have answered, and it is judged by what it says. */
	return env->filter_errno ? env->seccomp || err == ENOSYS || err == ENODEV
				 : err == EACCES || err == EPERM;
}

static void read_probes(struct environment *env)
{
	uint64_t size;

	env->attr_size_errno = probe_errno(env->abi, "{\"type\":\"software\",\"size\":1}", &size);
	if (env->attr_size_errno != E2BIG && errno_of_bad_flags() == env->attr_size_errno)
		env->filter_errno = env->attr_size_errno;
	if (env->attr_size_errno == E2BIG)
		env->attr_size = (unsigned)size;
	probe_breakpoint(env);
}

static int try_control(const struct environment *env, enum identity as)
{
	char why[128];

	return identity_available(&env->rights, as, why, sizeof(why))
		       ? identity_run(as, 5, probe_control, (void *)(uintptr_t)env->abi)
		       : -1;
}

void environment_read_alone(struct environment *env)
{
	environment_read_sysctls(env);
	for (enum identity as = 0; as < IDENTITIES; as++)
		env->control[as] = try_control(env, as);
	env->control_paranoid = env->sysctls[SYSCTL_PARANOID];
}

int environment_control(const struct environment *env, enum identity as)
{
	return env->sysctls[SYSCTL_PARANOID] == env->control_paranoid ? env->control[as]
								      : try_control(env, as);
}

void environment_read_plain(struct environment *env, const struct abi *abi)
{
	*env = (struct environment){.abi = abi, .tracefs = -1, .breakpoint_hits = -1};
	read_uname(env);
	env->page_size = (unsigned)sysconf(_SC_PAGESIZE);
	read_cpus(env);
	environment_read_sysctls(env);
}

/* Where it is for that release, among the places that distributions and the kernel have for it;
 * empty if it is at none. */
static void kernel_config_find(const char *release, char *path, size_t size)
{
	static const char *const formats[] = {
		"/proc/config.gz", "/boot/config-%s", "/usr/lib/modules/%s/config",
		"/lib/modules/%s/config", "/lib/modules/%s/build/.config"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		snprintf(path, size, formats[i], release);
		if (!access(path, R_OK))
			return;
	}
	path[0] = '\0';
}

void environment_read(struct environment *env, const struct abi *abi)
{
	environment_read_plain(env, abi);
	for (enum identity as = 0; as < IDENTITIES; as++)
		env->control[as] = -1;
	read_self(env);
	read_pmus(env);
	read_lockdown(env);
	read_container(env);
	hypervisor_read(env->hypervisor, sizeof(env->hypervisor));
	host_cpu(env->cpu, sizeof(env->cpu), env->vendor, sizeof(env->vendor));
	read_line("/sys/kernel/security/lsm", env->lsm, sizeof(env->lsm));
	kernel_config_find(env->release, env->config_path, sizeof(env->config_path));
	read_probes(env);
	hardware_probe(&env->hardware, env->abi, &env->cpus_usable);
}

void environment_free(struct environment *env)
{
	environment_let_go(env);
	free(env->pmus);
	json_decref(env->learned);
	free(env->config);
	free(env->tracepoints);
	if (env->tracefs >= 0)
		close(env->tracefs);
}

const struct pmu *environment_pmu(const struct environment *env, const char *name)
{
	for (size_t i = 0; i < env->pmu_count; i++)
		if (!strcmp(env->pmus[i].name, name))
			return &env->pmus[i];
	return NULL;
}

int environment_cpu_of_pmu(const struct environment *env, const struct pmu *pmu)
{
	const char *list = pmu->cpumask[0] ? pmu->cpumask : pmu->cpus;
	unsigned end = cpu_list_end(list) < CPU_SETSIZE ? cpu_list_end(list) : CPU_SETSIZE;
	int cpu = -1;

	for (unsigned i = 0; i < end && (cpu < 0 || !CPU_ISSET((unsigned)cpu, &env->cpus_usable));
	     i++)
		if (cpu_list_has(list, i) && (cpu < 0 || CPU_ISSET(i, &env->cpus_usable)))
			cpu = (int)i;
	return cpu;
}

const struct pmu *environment_pmu_of_type(const struct environment *env, uint32_t type)
{
	for (size_t i = 0; i < env->pmu_count; i++)
		if (env->pmus[i].type == type)
			return &env->pmus[i];
	return NULL;
}

const struct tracepoint *environment_known_tracepoint(const struct environment *env,
						      const char *name)
{
	for (size_t i = 0; i < env->tracepoint_count; i++)
		if (!strcmp(env->tracepoints[i].name, name))
			return &env->tracepoints[i];
	return NULL;
}

int probe_hold(const struct abi *abi, const char *type, uint64_t config)
{
	char json_text[160];

	snprintf(json_text, sizeof(json_text),
		 "{\"type\":\"%s\",\"config\":%llu,\"size\":64,\"disabled\":1,"
		 "\"exclude_kernel\":1}",
		 type, (unsigned long long)config);
	return probe_open(abi, json_text, NULL);
}

/*
 * With an event on it the tracepoint stays registered: otherwise each case that opens it as the
 * only one waits for RCU twice, some 50 ms. But of ftrace:function one has every function of the
 * kernel traced, even if it is off: under an emulator that takes ten times as long.
 */
static void hold_tracepoint(const struct environment *env, struct tracepoint *one)
{
	if (one->held < 0 && strcmp(one->name, "ftrace:function") != 0)
		one->held = probe_hold(env->abi, "tracepoint", one->id);
}

const struct tracepoint *environment_add_tracepoint(struct environment *env, const char *name,
						    uint32_t id, bool hold)
{
	struct tracepoint *one;

	env->tracepoints =
		or_exit(realloc(env->tracepoints, (env->tracepoint_count + 1) * sizeof(*one)));
	one = &env->tracepoints[env->tracepoint_count++];
	snprintf(one->name, sizeof(one->name), "%s", name);
	one->id = id;
	one->held = -1;
	if (hold)
		hold_tracepoint(env, one);
	return one;
}

const struct tracepoint *environment_tracepoint(struct environment *env, const char *name)
{
	const struct tracepoint *known = environment_known_tracepoint(env, name);
	char path[160], text[16];
	const char *colon = strchr(name, ':');

	if (known || !colon || strlen(name) >= sizeof(known->name))
		return known;
	if (env->tracefs < 0)
		env->tracefs = tracefs_open();
	if (env->tracefs < 0)
		return NULL;
	snprintf(path, sizeof(path), "events/%.*s/%s/id", (int)(colon - name), name, colon + 1);
	if (read_small_at(env->tracefs, path, text, sizeof(text)) <= 0)
		return NULL;
	return environment_add_tracepoint(env, name, (uint32_t)strtoul(text, NULL, 10), true);
}

bool environment_reads_tracepoints(struct environment *env)
{
	if (env->tracefs < 0)
		env->tracefs = tracefs_open();
	return env->tracefs >= 0 && !faccessat(env->tracefs, "events", R_OK | X_OK, 0);
}

void environment_let_go(struct environment *env)
{
	for (size_t i = 0; i < env->tracepoint_count; i++) {
		if (env->tracepoints[i].held >= 0)
			close(env->tracepoints[i].held);
		env->tracepoints[i].held = -1;
	}
}

void environment_hold(struct environment *env)
{
	for (size_t i = 0; i < env->tracepoint_count; i++)
		hold_tracepoint(env, &env->tracepoints[i]);
}

bool environment_is_hierarchy(const char *name)
{
	return !strcmp(name, "v2") || (!strncmp(name, "v1.", 3) && name[3]);
}

int environment_cgroup(const char *hierarchy, char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	bool is_v2 = !strcmp(hierarchy, "v2"), found = false;
	struct mntent *m;

	while (mounts && !found && (m = getmntent(mounts))) {
		found = is_v2 ? !strcmp(m->mnt_type, "cgroup2")
			      : !strcmp(m->mnt_type, "cgroup") && hasmntopt(m, hierarchy + 3);
		found = found && !access(m->mnt_dir, F_OK); /* it can be reached */
		if (found)
			snprintf(path, size, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found ? 0 : -ENOENT;
}

char environment_config(struct environment *env, const char *name)
{
	char key[96];
	const char *at;

	if (!env->config_was_read) {
		env->config = kernel_config_read(env->config_path, env->config_why,
						 sizeof(env->config_why));
		env->config_was_read = true;
	}
	if (!env->config)
		return 0;
	snprintf(key, sizeof(key), "\nCONFIG_%s=", name);
	at = strstr(env->config, key);
	return at ? at[strlen(key)] : 'n';
}
