/* SPDX-License-Identifier: MIT */
/*
 * Reading format/ in a PMU's folder in sysfs.
 */
#include "machine/pmu_terms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/proc.h"

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

json_t *pmu_terms_attr(const char *pmu, uint32_t type, char *terms, bool *is_open)
{
	json_t *attr = json_pack("{s:I,s:i}", "type", (json_int_t)type, "disabled", 1);
	char *save = NULL;

	*is_open = strchr(terms, '?') != NULL;

	for (char *term = strtok_r(terms, ",", &save); term; term = strtok_r(NULL, ",", &save)) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		if (*is_open || pmu_term(pmu, term, value ? strtoull(value, NULL, 0) : 1, attr)) {
			json_decref(attr);
			return NULL;
		}
	}
	return attr;
}
