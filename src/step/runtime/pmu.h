/* SPDX-License-Identifier: MIT */
/*
 * The events that a PMU has in sysfs, by their terms.
 */
#ifndef PERFABI_RUNTIME_PMU_H
#define PERFABI_RUNTIME_PMU_H

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What became of one: it opened (0), the errno, or it was not tried. */
enum { UNREAD_TERM = -1, FOR_PEOPLE = -2 };

struct pmu_event {
	char name[256];
	int err;
};

struct pmu_events {
	struct pmu_event *list;
	uint64_t tried_nr, opened_nr, refused_nr, unread_nr;
};

/* As long as with config3, whatever <linux/perf_event.h> this is. */
union pmu_attr {
	struct perf_event_attr attr;
	uint64_t words[18];
};

static bool read_of_pmu(const char *pmu, const char *folder, const char *name, char line[512])
{
	char path[640];
	FILE *f;
	bool is_read;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s%s", pmu, folder, name);
	f = fopen(path, "re");
	is_read = f && fgets(line, 512, f);
	if (f)
		fclose(f);
	return is_read;
}

/* Lays a term's value over the bits that the PMU's format/ has for it: "config:0-7,32-35". */
static bool lay_term(const char *pmu, const char *name, uint64_t value, union pmu_attr *attr)
{
	char format[512], *at;
	uint64_t *word;

	if (!read_of_pmu(pmu, "format/", name, format) || !(at = strchr(format, ':')))
		return false;
	*at++ = '\0';
	word = !strcmp(format, "config")    ? &attr->words[1]
	       : !strcmp(format, "config1") ? &attr->words[7]
	       : !strcmp(format, "config2") ? &attr->words[8]
					    : &attr->words[16];
	while (*at && *at != '\n') {
		unsigned long first = strtoul(at, &at, 10), last = first;

		if (*at == '-')
			last = strtoul(at + 1, &at, 10);
		for (unsigned long bit = first; bit <= last && bit < 64; bit++, value >>= 1)
			*word |= (value & 1) << bit;
		at += *at && *at != '\n';
	}
	return true;
}

/* One by its terms, as "event=0x3c,umask=1": its err, and in *fd what it opened or -1. */
static int open_pmu_event(const char *pmu, const char *name, bool is_wide, int leader, int *fd)
{
	union pmu_attr attr = {.attr = {.size = sizeof(attr), .disabled = 1}};
	char terms[512], type[512], *save = NULL;

	*fd = -1;
	if (!read_of_pmu(pmu, "events/", name, terms) || !read_of_pmu(pmu, "type", "", type))
		return UNREAD_TERM;
	attr.attr.type = (uint32_t)strtoul(type, NULL, 10);
	if (strchr(terms, '?'))
		return FOR_PEOPLE;
	for (char *term = strtok_r(terms, ",\n", &save); term;
	     term = strtok_r(NULL, ",\n", &save)) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		if (!lay_term(pmu, term, value ? strtoull(value, NULL, 0) : 1, &attr))
			return UNREAD_TERM;
	}
	*fd = (int)syscall(SYS_perf_event_open, &attr, is_wide ? -1 : 0, is_wide ? 0 : -1, leader,
			   0UL);
	return *fd < 0 ? errno : 0;
}

/*
 * Tries them all; a PMU with a cpumask counts for cpus alone. Metrics of a core are shares of its
 * slots, and are refused without those (intel_pmu_hw_config()). The list is to be freed.
 */
static int try_pmu_events(const char *pmu, struct pmu_events *all)
{
	char path[320], line[512];
	const bool is_wide = read_of_pmu(pmu, "cpumask", "", line);
	struct dirent *entry;
	int slots, fd;
	DIR *dir;

	*all = (struct pmu_events){0};
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events", pmu);
	dir = opendir(path);
	if (!dir)
		return 0;
	open_pmu_event(pmu, "slots", is_wide, -1, &slots);
	while ((entry = readdir(dir))) {
		struct pmu_event *list, *e;

		if (strchr(entry->d_name, '.')) /* name.unit, name.scale */
			continue;
		list = realloc(all->list, (all->tried_nr + 1) * sizeof(*list));
		if (!list)
			break;
		all->list = list;
		e = &list[all->tried_nr++];
		snprintf(e->name, sizeof(e->name), "%s", entry->d_name);
		e->err = open_pmu_event(pmu, e->name, is_wide,
					strncmp(e->name, "topdown-", 8) ? -1 : slots, &fd);
		all->opened_nr += e->err == 0;
		all->refused_nr += e->err > 0;
		all->unread_nr += e->err == UNREAD_TERM;
		if (fd >= 0)
			close(fd);
	}
	closedir(dir);
	if (slots >= 0)
		close(slots);
	return entry ? -1 : 0;
}

#endif
