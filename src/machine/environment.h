/* SPDX-License-Identifier: MIT */
/*
 * What this machine is, read once at the start: it heads every report, and requirements are settled
 * against it.
 */
#ifndef PERFABI_ENVIRONMENT_H
#define PERFABI_ENVIRONMENT_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "abi/abi.h"
#include "machine/identity.h"
#include "machine/sysctl.h"

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

/* A cpu where plain hardware events count: the one that the caller is on, if it is one. */
int hardware_cpu(const struct hardware *hardware);

/*
 * The first line of such a file of the processor's PMU, as "caps/max_precise": its length, or
 * -ENOENT. That PMU is the one called cpu, or one that tells its cpus: first of the type raw.
 */
int hardware_file(const struct pmu *pmus, size_t count, const char *file, char *text, size_t size);

struct tracepoint {
	char name[96]; /* "syscalls:sys_enter_getppid" */
	uint32_t id;
	int held; /* an event on it that is off, or -1 */
};

struct environment {
	const struct abi *abi;
	const struct abi_arch *arch; /* NULL: not in cases/abi */
	char release[65], version[65], machine[65];
	char upstream[65];    /* the version of kernel.org's that it is of: upstream_version() */
	unsigned kernel_bits; /* of the kernel's long, as far as uname tells */
	unsigned page_size, cpus_possible, cpus_online;
	unsigned cpu_limit; /* no cpu has this number or a higher one; 0: not known */
	char online[4096];  /* the cpus that run, "0-3,8"; empty: not known */
	bool cpus_filtered; /* lxcfs says which are online: a container's own, not the kernel's */
	unsigned cpus_allowed; /* that this process may run on, at present */
	cpu_set_t cpus_usable; /* that it could: of its cpuset; the first CPU_SETSIZE */

	pid_t runner; /* the process that has read it */
	struct rights rights;
	bool no_new_privs;
	int seccomp; /* mode; 0: none */
	/* RLIMIT_NOFILE, _MEMLOCK, _SIGPENDING and _FSIZE, hard, as cases get them */
	rlim_t nofile, memlock, sigpending, fsize, stack;
	uint64_t memlock_soft; /* RLIMIT_MEMLOCK as it was at the start, in bytes; 0: not known */

	int sysctls[SYSCTLS]; /* SYSCTL_ABSENT where it is not */

	struct pmu *pmus;
	size_t pmu_count;
	struct tracepoint *tracepoints; /* those that were asked for and are there */
	size_t tracepoint_count;
	int tracefs; /* folder, or -1 */

	unsigned attr_size;  /* the kernel's own, as an open with size 1 wrote it; 0: not told */
	int attr_size_errno; /* what that open gave */
	int filter_errno;    /* what every call is given in the kernel's place; 0: it decides */
	/* 0, or the errno that a plain dummy event gave that identity; -1: it was not tried */
	int control[IDENTITIES];
	int control_paranoid; /* what perf_event_paranoid was then */
	struct hardware hardware;
	int breakpoint;             /* 0, or the errno that a breakpoint on data gave */
	bool breakpoint_is_endless; /* a store on it is done again and again */
	int breakpoint_hits;        /* what it counted of one store; -1: not known */
	unsigned breakpoint_bytes;  /* the most that one on data opens with; 0: not told */

	char lockdown[32], container[32], hypervisor[32], lsm[128], config_path[96];
	char vendor[32], cpu[96]; /* the processor's, as host_cpu() has them */
	bool config_was_read;
	char *config; /* text, once it was asked for; NULL if it cannot be read, as config_why says
		       */
	char config_why[192];
	json_t *learned; /* of the kernel, by the model's opens, for reports; NULL: nothing, owned
			  */
};

/* Reads what takes no rights and no time: the kernel's name, cpus, pages, sysctls. `abi` may be
 * NULL. */
void environment_read_plain(struct environment *env, const struct abi *abi);

/*
 * Reads it all, but for whom the sysctls let open an event. `abi` must outlive `env`. Free with
 * environment_free().
 */
void environment_read(struct environment *env, const struct abi *abi);
/*
 * Reads what the cases of another run change for a moment, once that run is kept away: the sysctls,
 * and whom they let open an event.
 */
void environment_read_alone(struct environment *env);
/* Reads the sysctls again. */
void environment_read_sysctls(struct environment *env);
/*
 * What a plain dummy event gives that identity with perf_event_paranoid as it was last read: tried
 * again where it is another than at the start, for a case may have set it.
 */
int environment_control(const struct environment *env, enum identity as);

/*
 * Whether no call of this process gets as far as the kernel's checks: there is no such call, a
 * filter or sandbox answers in its place, or this user may open nothing whatever the attr.
 */
bool environment_is_barred(const struct environment *env);
void environment_free(struct environment *env);

/* NULL if there is none of that name in /sys/bus/event_source/devices. */
const struct pmu *environment_pmu(const struct environment *env, const char *name);
/* A cpu of its file cpumask, or cpus: the first that perfabi may use, else the first; -1: none. */
int environment_cpu_of_pmu(const struct environment *env, const struct pmu *pmu);
const struct pmu *environment_pmu_of_type(const struct environment *env, uint32_t type);

/*
 * The tracepoint "system:name", looked up in tracefs the first time (which needs root; where
 * tracefs is not mounted, a detached mount of it is used). NULL if there is none.
 */
const struct tracepoint *environment_tracepoint(struct environment *env, const char *name);

/* Whether the names of tracepoints can be looked up there. */
bool environment_reads_tracepoints(struct environment *env);

/* Takes it for one that is there, and holds an event on it. */
const struct tracepoint *environment_add_tracepoint(struct environment *env, const char *name,
						    uint32_t id, bool hold);

/* The same among those already looked up. */
const struct tracepoint *environment_known_tracepoint(const struct environment *env,
						      const char *name);

/*
 * The events by which tracepoints stay registered are let go while another run may be alone on the
 * machine, and ask that nobody else has any; and taken up again.
 */
void environment_let_go(struct environment *env);
void environment_hold(struct environment *env);

/* Whether it is the name of a hierarchy of cgroups: "v2" or "v1.CONTROLLER". */
bool environment_is_hierarchy(const char *name);

/* Where such a hierarchy is mounted. 0 or -ENOENT. */
int environment_cgroup(const char *hierarchy, char *path, size_t size);

/* y, m or n for CONFIG_name; 0 where the kernel's configuration cannot be read. */
char environment_config(struct environment *env, const char *name);

/* A new reference. */
json_t *environment_json(const struct environment *env);

/* Whether, by the "identities" of a report's environment, a plain event opens for that caller. */
bool environment_opens(const json_t *identities, enum identity as);

/*
 * The environment that a report has of another machine, as far as it tells; what it does not tell
 * is not known, and nothing of this machine is put in its place. 0, or -EINVAL with `e` filled.
 * `abi` must outlive `env`. Free with environment_free().
 */
int environment_from_json(struct environment *env, const struct abi *abi, const json_t *json,
			  const struct where *w, struct error *e);

/*
 * Of uname(2)'s release and version, and the line of Ubuntu's /proc/version_signature ("" if that
 * is not there): what Debian's version or Ubuntu's signature says, if it is of the release's
 * series, else the release itself.
 */
void upstream_version(const char *release, const char *version, const char *signature, char *out,
		      size_t size);

/* The root folder of tracefs. Needs root. A file descriptor, or -1. */
int tracefs_open(void);

/*
 * The root folder of a file system of which a kernel has one instance, "tracefs" or "debugfs":
 * where it is mounted at one of the paths (NULL-terminated), or a mount of our own that no path
 * leads to and that goes with its file descriptor (fsopen(2), Linux 5.2). -1 if neither can be had.
 */
int tracefs_open_as(const char *type, long magic, const char *const paths[]);

/* A descriptor of an event of that type and config that is off, or a negative errno. */
int probe_hold(const struct abi *abi, const char *type, uint64_t config);

/*
 * Lays a term's value over the field of `attr` in whose bits the PMU's format/ has it. 0; -ENOENT:
 * the PMU has no such term; -EINVAL: its format is none.
 */
int pmu_term(const char *pmu, const char *name, uint64_t value, json_t *attr);

/* The same of "TERM,TERM=VALUE,..."; cuts the text up. -ERANGE, too: a value is no number. */
int pmu_terms(const char *pmu, char *terms, json_t *attr);

/* Of TERM or TERM=VALUE the value, 1 where there is none, cut off; false: it is no number. */
bool pmu_term_value(char *term, uint64_t *value);

#endif
