/* SPDX-License-Identifier: MIT */
/*
 * What there is beside a call: who makes it, and the processes, events and files that it can name.
 */
#ifndef PERFABI_MODEL_OBJECTS_H
#define PERFABI_MODEL_OBJECTS_H

#include <stddef.h>

#include "machine/identity.h"

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

#endif
