/* SPDX-License-Identifier: MIT */
/*
 * Reading the machine: uname, /proc, /sys, and three probes by open that are not under test.
 */
#include "machine/environment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/attr.h"
#include "machine/cpus.h"
#include "machine/host.h"
#include "machine/hypervisor.h"
#include "machine/kernel.h"
#include "machine/limits.h"
#include "machine/names.h"
#include "machine/probe.h"
#include "machine/proc.h"
#include "machine/sysctl.h"
#include "machine/tracefs.h"

#ifndef FUSE_SUPER_MAGIC /* in <linux/magic.h> since Linux 5.18 */
#define FUSE_SUPER_MAGIC 0x65735546
#endif

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
		struct pmu pmu = {0}, *grown;
		char path[sizeof(folder) + sizeof(entry->d_name) + 8];
		int type;

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(pmu.name))
			continue;
		snprintf(path, sizeof(path), "%s/%s/type", folder, entry->d_name);
		type = number_in(path, -1);
		grown = type < 0 ? NULL : realloc(env->pmus, (env->pmu_count + 1) * sizeof(*grown));
		if (!grown)
			continue;
		memcpy(pmu.name, entry->d_name, strlen(entry->d_name));
		pmu.type = (uint32_t)type;
		hardware_read_files(&pmu);
		env->pmus = grown;
		env->pmus[env->pmu_count++] = pmu;
	}
	if (dir)
		closedir(dir);
	if (env->pmus)
		qsort(env->pmus, env->pmu_count, sizeof(*env->pmus), pmu_order);
}

/* "none [integrity] confidentiality" -> integrity */
static void read_lockdown(struct environment *env)
{
	char text[96], *open;

	read_line("/sys/kernel/security/lockdown", text, sizeof(text));
	open = strchr(text, '[');
	if (!open)
		return;
	open++;
	open[strcspn(open, "]")] = '\0';
	snprintf(env->lockdown, sizeof(env->lockdown), "%.31s", open);
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
static int count_a_store(const struct abi *abi, const char *json_text, unsigned char *attr,
			 volatile uint32_t *word, bool *is_endless)
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
		fd = probe_open(abi, json_text, attr);
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
static void probe_breakpoint(struct environment *env, unsigned char *attr)
{
	volatile uint32_t word = 0;
	char json_text[160];

	snprintf(json_text, sizeof(json_text),
		 "{\"type\":\"breakpoint\",\"bp_type\":[\"w\"],\"bp_addr\":%llu,\"bp_len\":4,"
		 "\"size\":72,\"exclude_kernel\":1,\"exclude_hv\":1}",
		 (unsigned long long)(uintptr_t)&word);
	env->breakpoint = probe_errno(env->abi, json_text, attr);
	env->breakpoint_hits = env->breakpoint ? -1
					       : count_a_store(env->abi, json_text, attr, &word,
							       &env->breakpoint_is_endless);
}

static int probe_control(void *context)
{
	const struct abi *abi = context;
	unsigned char *attr = calloc(1, abi->attr_size);
	int err = attr ? probe_errno(abi,
				     "{\"type\":\"software\",\"config\":\"dummy\",\"size\":64,"
				     "\"disabled\":1,\"exclude_kernel\":1,\"exclude_hv\":1}",
				     attr)
		       : ENOMEM;

	free(attr);
	return err;
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
	const struct abi_field *size = abi_field(env->abi, "size");
	unsigned char *attr = calloc(1, env->abi->attr_size);

	if (!attr)
		return;
	env->attr_size_errno = probe_errno(env->abi, "{\"type\":\"software\",\"size\":1}", attr);
	if (env->attr_size_errno != E2BIG && errno_of_bad_flags() == env->attr_size_errno)
		env->filter_errno = env->attr_size_errno;
	if (env->attr_size_errno == E2BIG)
		env->attr_size = (unsigned)attr_get(size, attr, host_order());
	probe_breakpoint(env, attr);
	free(attr);
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

const struct tracepoint *environment_known_tracepoint(const struct environment *env,
						      const char *name)
{
	for (size_t i = 0; i < env->tracepoint_count; i++)
		if (!strcmp(env->tracepoints[i].name, name))
			return &env->tracepoints[i];
	return NULL;
}

/*
 * An event on it, off, so that the tracepoint stays registered: otherwise each case that opens it
 * as the only one waits for RCU twice, some 50 ms.
 */
static int hold_tracepoint(const struct abi *abi, uint32_t id)
{
	unsigned char *attr = calloc(1, abi->attr_size);
	char json_text[128];
	int fd;

	snprintf(json_text, sizeof(json_text),
		 "{\"type\":\"tracepoint\",\"config\":%u,\"size\":64,\"disabled\":1,"
		 "\"exclude_kernel\":1}",
		 id);
	fd = attr ? probe_open(abi, json_text, attr) : -ENOMEM;
	free(attr);
	return fd;
}

const struct tracepoint *environment_add_tracepoint(struct environment *env, const char *name,
						    uint32_t id, bool hold)
{
	struct tracepoint *grown =
		realloc(env->tracepoints, (env->tracepoint_count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	env->tracepoints = grown;
	grown = &grown[env->tracepoint_count++];
	snprintf(grown->name, sizeof(grown->name), "%s", name);
	grown->id = id;
	grown->held = hold ? hold_tracepoint(env->abi, id) : -1;
	return grown;
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
		if (env->tracepoints[i].held < 0)
			env->tracepoints[i].held =
				hold_tracepoint(env->abi, env->tracepoints[i].id);
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
