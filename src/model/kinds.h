/* SPDX-License-Identifier: MIT */
/*
 * cases/model.json: the kinds of PMU and the classes of tracepoints that the model knows.
 */
#ifndef PERFABI_MODEL_KINDS_H
#define PERFABI_MODEL_KINDS_H

#include <stdbool.h>

#include "abi/abi.h"
#include "text/error.h"

enum { KINDS_MAX = 16, CLASSES_MAX = 6 };

/* What a PMU is like; the kernel has these as capabilities of struct pmu, and shows them nowhere.
 */
enum pmu_property {
	PMU_MODELLED,      /* all its checks are in checks.json */
	PMU_EXCLUDES,      /* it honours or ignores exclude_ bits: no PERF_PMU_CAP_NO_EXCLUDE */
	PMU_ALL_CLOCKS,    /* it takes every clock: PERF_PMU_CAP_NO_NMI */
	PMU_SAMPLES,       /* it interrupts: no PERF_PMU_CAP_NO_INTERRUPT */
	PMU_TASKS,         /* it counts tasks: no perf_invalid_context */
	PMU_EXTENDED_REGS, /* PERF_PMU_CAP_EXTENDED_REGS */
	PMU_AUX_OUTPUT,    /* PERF_PMU_CAP_AUX_OUTPUT */
	PMU_AUX_PAUSE,     /* PERF_PMU_CAP_AUX_PAUSE */
	PMU_PROPERTIES
};

extern const char *const pmu_properties[]; /* NULL-terminated */

struct pmu_kind {
	const char *name;
	bool has[PMU_PROPERTIES];
	uint64_t configs;            /* a bit for each config that it takes ... */
	const char *configs_learned; /* ... or the name of what is learned of them; NULL: it takes
					any */
	const char *type_learned;    /* the name of what is learned of its type, or NULL */
};

/* Tracepoints by their names, as globs. */
struct tracepoint_class {
	const char *name, *about;
	const json_t *names;
};

struct kinds {
	struct pmu_kind list[KINDS_MAX];
	size_t count;
	struct tracepoint_class classes[CLASSES_MAX];
	size_t class_count;
	const json_t *processors; /* globs of the names of PMUs that are a processor's */
	/* The names of the kinds as constants, by which checks name them. */
	struct abi_family names;
	struct abi_value values[KINDS_MAX];
};

/* Reads `pmus` and `tracepoints` of the file, which must outlive it. 0, or -EINVAL with `e`. */
int kinds_load(struct kinds *kinds, const json_t *file, const struct where *w, struct error *e);

/* NULL: there is none of that name. */
const struct pmu_kind *kinds_find(const struct kinds *kinds, const char *name);

/* The classes that a tracepoint "system:name" is in, as a mask. */
unsigned kinds_classes(const struct kinds *kinds, const char *tracepoint);

/* Whether a PMU of that name is a processor's. */
bool kinds_is_processor(const struct kinds *kinds, const char *pmu);

#endif
