/* SPDX-License-Identifier: MIT */
/*
 * A machine as the model knows it, this one or a recorded one: its environment, what was learned of
 * its kernel, its tracepoints.
 */
#ifndef PERFABI_MODEL_MACHINE_H
#define PERFABI_MODEL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/abi.h"
#include "call/call.h"
#include "machine/environment.h"
#include "model/learned.h"
#include "text/error.h"

struct machine {
	struct environment *env;
	const struct kinds *kinds;
	struct learned *learned;
	bool is_this; /* its processes and tracepoints can be looked at */
	/* The classes of the tracepoint of an id, a mask, with TRACEPOINT_EXISTS_BIT; NULL: they
	 * are not known. */
	unsigned char *tracepoints;
	size_t tracepoint_limit; /* no id reaches it */
	/* Looked up once. */
	const struct abi_field *size, *type, *config, *config1, *config2, *bp_type, *use_clockid,
		*clockid, *read_format;
	struct abi_field bits; /* the word of all bit fields from disabled on */
	uint64_t pid_cgroup, type_raw;
	uint64_t hardware_types; /* those that a processor's PMU takes, a bit for each */
};

enum { TRACEPOINT_EXISTS_BIT = 7 };

/* A machine of this environment. Free with machine_free(), which frees none of the arguments. */
void machine_init(struct machine *machine, struct environment *env, const struct kinds *kinds,
		  struct learned *learned);

/* Reads which tracepoints this machine has; they stay unknown where tracefs cannot be read. */
void machine_read_tracepoints(struct machine *machine);

/* It has the tracepoint "system:name", with that id. */
void machine_add_tracepoint(struct machine *machine, const char *name, size_t id);

/* Whether a processor's PMU takes the type: hardware, hw_cache or raw. */
bool machine_is_hardware(const struct machine *machine, uint64_t type);

/* Whether it has a PMU that cases/model.json does not: that may take events of other types, too. */
bool machine_has_other_pmus(const struct machine *machine);

/* Whether a PMU is a processor's: by its name, or since it says which cpus it has. */
bool machine_is_processors(const struct machine *machine, const struct pmu *pmu);

/* The processor's own PMU, or the first of several; NULL: there is none. */
const struct pmu *machine_processors_pmu(const struct machine *machine);

void machine_free(struct machine *machine);

/*
 * What there is beside a call: who makes it, and the processes, events and files that it can name.
 */

/* Who calls. */
struct caller {
	uint64_t capabilities; /* effective, in the first user namespace; a mask */
	uint64_t own;          /* the same in the caller's own */
	enum identity as;
	bool has_files;   /* one more can be opened */
	bool changes_uid; /* perfabi gives it a uid of its own, unless it is root */
	bool is_unnamed;  /* its uid is shown as all are that its user namespace has not mapped */
};

/* Whoever a machine's runner can become; its rights are none in another than the first user
 * namespace, which is the one that perf asks. */
struct caller caller_as(const struct rights *rights, enum identity as);

/* A process or thread. */
struct object_task {
	int32_t id; /* as pid is given; 0 is the caller's own thread */
	bool exists, is_exiting;
	bool may_be_read, may_be_attached; /* ptrace(2)'s two ways of access, for the caller */
	bool is_own; /* its uids are the caller's: what is in the way is that it is not dumpable */
};

/* An event that group_fd can mean. */
struct object_event {
	int32_t fd;
	bool is_unknown; /* that it is an event is all that is known */
	int32_t cpu;
	int32_t target; /* the task's id, 0 the caller's own thread, -1 none */
	int32_t clock;  /* its clockid, -1 the default */
	int64_t cgroup; /* 0: none */
	uint64_t read_format;
	unsigned siblings; /* of its group, without the leader */
	bool inherit, is_sibling, has_exited, has_buffer, write_backward;
	bool is_hardware; /* or anything else that is not software alone */
};

/* A descriptor that pid can be with PERF_FLAG_PID_CGROUP. */
struct object_file {
	int32_t fd;
	bool is_cgroup, has_perf_event;
	int64_t cgroup; /* its own number, not 0 */
};

/* A text in memory that cannot be looked at. */
struct object_text {
	uint64_t address;
	uint64_t length; /* bytes without the NUL */
};

/* What came of an event that was counted for a moment. */
struct counted {
	uint64_t value, enabled, running;    /* as read(2) gives them; times in ns */
	uint64_t samples, throttled;         /* records in the buffer */
	uint64_t switches, faults, syscalls; /* what the program did meanwhile */
	bool is_error;                       /* read(2) gave nothing */
	bool has_samples;                    /* the buffer could be mapped */
};

/* A call that is made on the event's descriptor once it is open. */
struct followed {
	char family;             /* the letter that its checks begin with: M, I, R or L */
	uint64_t length, offset; /* of mmap(2) and munmap(2), in bytes */
	uint64_t buffer;         /* the length of what is mapped by then; 0: nothing */
	uint64_t request;        /* of ioctl(2), the number in cases/abi */
	uint64_t argument;
	uint64_t size; /* of read(2) */
	bool is_private;
	bool is_unmap; /* munmap(2), not mmap(2) */
};

/*
 * What there is beside the call. What is not in a list is not there; processes are looked for on
 * this machine where `sees_processes` says so.
 */
struct objects {
	const struct object_task *tasks;
	const struct object_event *events;
	const struct object_file *files;
	const struct object_text *texts;
	size_t task_count, event_count, file_count, text_count;
	const struct counted *counted; /* NULL: it was not */
	int known_errno;               /* the errno that it gave, here or elsewhere; 0: not known */
	const struct followed *then;   /* what is asked about behind the open; NULL: nothing */
	bool sees_processes;
	bool sees_memory; /* the calling process is this one: what addresses point to can be read */
	unsigned breakpoints; /* that are taken and the caller knows of */
};

/* What a PMU is like; the kernel has these as capabilities of struct pmu, and shows them nowhere.
 */
enum pmu_property {
	PMU_MODELLED,      /* all its checks are in checks.json */
	PMU_EXCLUDES,      /* it honours or ignores exclude_ bits: no PERF_PMU_CAP_NO_EXCLUDE */
	PMU_ALL_CLOCKS,    /* it takes every clock: PERF_PMU_CAP_NO_NMI */
	PMU_SAMPLES,       /* it interrupts: no PERF_PMU_CAP_NO_INTERRUPT */
	PMU_TASKS,         /* it counts tasks: no perf_invalid_context */
	PMU_EXTENDED_REGS, /* PERF_PMU_CAP_EXTENDED_REGS */
	PMU_SIMD_REGS,     /* PERF_PMU_CAP_SIMD_REGS */
	PMU_AUX_OUTPUT,    /* PERF_PMU_CAP_AUX_OUTPUT */
	PMU_AUX_PAUSE,     /* PERF_PMU_CAP_AUX_PAUSE */
	PMU_PROPERTIES
};

/* A mask, or the name of what is learned of it: "$kernel.NAME". */
struct learned_mask {
	uint64_t bits;
	const char *learned; /* or NULL */
};

struct pmu_kind {
	const char *name;
	uint32_t has[PMU_PROPERTIES]; /* 0 or 1 */
	struct learned_mask configs;  /* a bit for each config that it takes; none at all: any */
	struct learned_mask type;     /* of it, only what is learned */
};

enum { CLASSES_MAX = 6 };

/* Tracepoints by their names, as globs. */
struct tracepoint_class {
	const char *name, *about;
	const char *const *names; /* NULL-terminated */
};

/* What cases/model.json says of PMUs and tracepoints. */
struct kinds {
	struct pmu_kind *list;
	size_t count;
	struct tracepoint_class *classes;
	size_t class_count;
	struct tracepoint_class processors; /* the PMUs that are a processor's, alike */
	/* The names of the kinds as constants, by which checks name them. */
	struct abi_family names;
};

/* Names of what only some machines have; a condition that is about it has one of the texts `by`.
 * NULL-terminated. */
struct own_names {
	const char *const *names, *const *by;
};

/* cases/model.json. */
struct model_file {
	struct kinds kinds;
	const struct own_names *own_names;
	size_t own_name_count;
	struct learned learned;
	const json_t *words, *terms;
};

extern const struct doc_type model_file_type;

/* Reads it into memory of the arena. 0, or a negative errno with `e` filled. */
int model_file_load(struct model_file *file, const struct source *source, struct arena *arena,
		    struct error *e);

/*
 * What is learned here, for a report, by what the source says: a new reference to an object of
 * numbers by name, or NULL.
 */
json_t *learned_for_report(const struct source *model, struct environment *env);

/* Whether one of the globs, a NULL-terminated list or NULL, is about that name. */
bool globs_match(const char *const *globs, const char *name);

/* NULL: there is none of that name. */
const struct pmu_kind *kinds_find(const struct kinds *kinds, const char *name);

/* Whether a PMU of that name is a processor's. */
bool kinds_is_processor(const struct kinds *kinds, const char *pmu);

enum { TEXT_AT_MAX = 8192 };

/* A text, and the file that it names. */
struct text_at {
	bool is_readable; /* up to its NUL, or to TEXT_AT_MAX bytes */
	uint64_t length;  /* bytes without the NUL; TEXT_AT_MAX: there is none */
	int err;          /* of finding the file, or 0 */
	bool is_regular;
	bool has_pages;   /* that a probe can be put in */
	uint64_t size;    /* of the file, in bytes */
	bool is_nameless; /* no folder has it: nobody else has it mapped */
};

/* Reads it, whatever the address. */
void text_read_at(uint64_t address, struct text_at *out);

enum { FACTS_MAX = 288, ATTR_BYTES_MAX = 512 };

enum fact_state { FACT_NEW, FACT_KNOWN, FACT_UNKNOWN };

struct evaluation {
	const struct machine *machine;
	const struct call *call;
	const struct caller *caller;
	const struct objects *objects;

	uint64_t size_given;                /* attr.size */
	uint64_t size;                      /* bytes of attr that the kernel reads */
	unsigned char attr[ATTR_BYTES_MAX]; /* as it reads them, zeros behind */
	uint64_t config, config1, config2;  /* these of it */
	uint32_t type;
	const struct object_event *event; /* that group_fd is; NULL: none */
	const struct object_file *file;   /* that pid is; NULL: none */
	struct text_at path;              /* at config1, once it was sought */
	bool path_was_sought;
	struct object_task task; /* that pid is */
	bool task_is_known, task_was_sought;
	struct {
		bool is_known, is_there;
		uint32_t extended_type;
		const struct pmu_kind *kind; /* NULL: not in cases/model.json */
		const struct pmu *device;    /* in sysfs, or NULL */
	} pmu;

	unsigned char state[FACTS_MAX];
	uint64_t value[FACTS_MAX];
};

/* Prepares all but the facts, which are computed when they are asked for. */
void evaluation_begin(struct evaluation *s, const struct machine *machine, const struct call *call,
		      const struct caller *caller, const struct objects *objects);

/* The task that pid is; NULL: it is not known whether there is one. */
const struct object_task *evaluation_task(struct evaluation *s);

/* The pid of the call; 0 also for the number of the thread that asks. */
int32_t evaluation_pid(const struct evaluation *s);

/* Whether the event is on a task. */
bool evaluation_has_task(const struct evaluation *s);

#endif
