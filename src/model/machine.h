/* SPDX-License-Identifier: MIT */
/*
 * A machine as the model knows it, this one or a recorded one: its environment, what was learned of
 * its kernel, its tracepoints.
 */
#ifndef PERFABI_MODEL_MACHINE_H
#define PERFABI_MODEL_MACHINE_H

#include "machine/environment.h"
#include "model/kinds.h"
#include "model/learned.h"

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
	const struct lesson *breakpoints[2]; /* on code, on data */
	const struct lesson *user_end;
	const struct lesson *extended_types; /* whether hardware events can name a PMU */
};

enum { TRACEPOINT_EXISTS_BIT = 7 };

/* A machine of this environment. Free with machine_free(), which frees none of the arguments. */
void machine_init(struct machine *machine, struct environment *env, const struct kinds *kinds,
		  struct learned *learned);

/* Reads which tracepoints this machine has; they stay unknown where tracefs cannot be read. 0 or
 * -ENOMEM. */
int machine_read_tracepoints(struct machine *machine);

/* It has the tracepoint "system:name", with that id. 0 or -ENOMEM. */
int machine_add_tracepoint(struct machine *machine, const char *name, size_t id);

/* Whether it has a PMU that cases/model.json does not: that may take events of other types, too. */
bool machine_has_other_pmus(const struct machine *machine);

/* Whether a PMU is a processor's: by its name, or since it says which cpus it has. */
bool machine_is_processors(const struct machine *machine, const struct pmu *pmu);

/* The processor's own PMU, or the first of several; NULL: there is none. */
const struct pmu *machine_processors_pmu(const struct machine *machine);

void machine_free(struct machine *machine);

#endif
