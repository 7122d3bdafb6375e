/* SPDX-License-Identifier: MIT */
/*
 * The terms that a PMU's events are made of: "event=0x3c,umask=1", by format/ in sysfs
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices-format).
 */
#ifndef PERFABI_PMU_TERMS_H
#define PERFABI_PMU_TERMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Lays a term's value over the field of `attr` in whose bits the PMU's format/ has it. 0; -ENOENT:
 * the PMU has no such term; -EINVAL: its format is none.
 */
int pmu_term(const char *pmu, const char *name, uint64_t value, json_t *attr);

/*
 * The terms as the fields of an attr that is off, a new reference; cuts the text up. NULL for what
 * cannot be read, or has a "?" for people to fill in: then *is_open.
 */
json_t *pmu_terms_attr(const char *pmu, uint32_t type, char *terms, bool *is_open);

#endif
