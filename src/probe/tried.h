/* SPDX-License-Identifier: MIT */
/*
 * What a PMU of sysfs does when it is asked.
 */
#ifndef PERFABI_PROBE_TRIED_H
#define PERFABI_PROBE_TRIED_H

#include "probe/probe.h"

/*
 * Opens events on the PMU, and looks at what they do: adds `cycles` (of a processor's), `tried` (of
 * each event in its events/) and `aux` (where it can have an AUX area) to `json`, which has what
 * its files say. The caller's affinity is afterwards what it was. Events that come behind
 * `deadline`, in seconds of clock_processor_seconds(), are not asked, and say so.
 */
void pmu_try(const struct probe *probe, const struct pmu *pmu, json_t *json, double deadline);

#endif
