/* SPDX-License-Identifier: MIT */
/*
 * One call as the kernel meets it: who makes it, on which machine, with which processes, files and
 * events there.
 */
#ifndef PERFABI_MODEL_SITUATION_H
#define PERFABI_MODEL_SITUATION_H

#include <stdbool.h>
#include <stdint.h>

#include "call/call.h"
#include "model/machine.h"
#include "model/world.h"

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

enum { FACTS_MAX = 256, ATTR_BYTES_MAX = 512 };

enum fact_state { FACT_NEW, FACT_KNOWN, FACT_UNKNOWN };

struct situation {
	const struct machine *machine;
	const struct call *call;
	const struct caller *caller;
	const struct world *world;

	uint64_t size_given;                /* attr.size */
	uint64_t size;                      /* bytes of attr that the kernel reads */
	unsigned char attr[ATTR_BYTES_MAX]; /* as it reads them, zeros behind */
	const struct world_event *event;    /* that group_fd is; NULL: none */
	const struct world_file *file;      /* that pid is; NULL: none */
	struct text_at path;                /* at config1, once it was sought */
	bool path_was_sought;
	struct world_task task; /* that pid is */
	bool task_is_known, task_was_sought;
	struct {
		bool was_sought, is_known, is_there;
		uint32_t extended_type;
		const struct pmu_kind *kind; /* NULL: not in cases/model.json */
		const struct pmu *device;    /* in sysfs, or NULL */
	} pmu;

	unsigned char state[FACTS_MAX];
	uint64_t value[FACTS_MAX];
};

/* Prepares all but the facts, which are computed when they are asked for. */
void situation_begin(struct situation *s, const struct machine *machine, const struct call *call,
		     const struct caller *caller, const struct world *world);

/* The task that pid is; NULL: it is not known whether there is one. */
const struct world_task *situation_task(struct situation *s);

/* Finds the PMU of the call, into s->pmu; false: it is not known. */
bool situation_pmu(struct situation *s);

/* The pid of the call; 0 also for the number of the thread that asks. */
int32_t situation_pid(const struct situation *s);

/* Whether the event is on a task. */
bool situation_has_task(const struct situation *s);

#endif
