/* SPDX-License-Identifier: MIT */
/*
 * The verb that tries the events which a PMU names in sysfs.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/environment.h"
#include "machine/proc.h"
#include "machine/names.h"
#include "step/step.h"
#include "step/types.h"
#include "step/verbs/verbs.h"

/* The file descriptor in *fd, or what it gives. */
static int open_terms(struct step *s, json_t *attr, bool wide, int leader, int *fd)
{
	json_t *open_json = json_pack("{s:O,s:i,s:i,s:i}", "attr", attr, "pid", wide ? -1 : 0,
				      "cpu", wide ? 0 : -1, "group_fd", leader);
	struct where nowhere = {0};
	struct answer answer;
	struct call call;
	int err = call_from_json(&call, s->tables->abi, s->tables->arch, open_json, s->scope,
				 &nowhere, s->error);

	json_decref(open_json);
	if (err)
		return -EINVAL;
	err = call_issue(&call, s->run->env, &answer);
	call_free(&call);
	*fd = err ? -1 : (int)answer.fd;
	return err ? err : answer.err;
}

/* Whether a PMU counts for cpus alone: then it has a cpumask. */
static bool is_cpu_wide(const char *pmu)
{
	char path[300];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpumask", pmu);
	return !access(path, R_OK);
}

enum { TRIED, OPENED, REFUSED, UNREAD, LISTS };

/* The PMU that is tried, and what came of it. */
struct trial {
	const struct pmu *pmu;
	bool is_wide;
	int slots; /* an event on its slots, or -1 */
	json_t *lists[LISTS];
};

/* The attr of an event in events/, a new reference; NULL if there is none. */
static json_t *attr_of_event(const struct pmu *pmu, const char *name, bool *is_open)
{
	char path[640], terms[512];

	*is_open = false;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/%s", pmu->name, name);
	return read_line(path, terms, sizeof(terms)) < 0
		       ? NULL
		       : pmu_terms_attr(pmu->name, pmu->type, terms, is_open);
}

/* Metrics of a core are shares of its slots, and are refused without those (intel_pmu_hw_config()).
 */
static int leader_of(const struct trial *t, const char *name)
{
	return strncmp(name, "topdown-", 8) != 0 ? -1 : t->slots;
}

static void try_event(struct step *s, struct trial *t, const char *name)
{
	bool is_open;
	json_t *attr = attr_of_event(t->pmu, name, &is_open);
	int err, fd = -1;

	json_array_append_new(t->lists[TRIED], json_string(name));
	if (!attr && !is_open)
		json_array_append_new(t->lists[UNREAD], json_string(name));
	if (!attr)
		return;
	err = open_terms(s, attr, t->is_wide, leader_of(t, name), &fd);
	if (fd >= 0)
		close(fd);
	if (err)
		json_array_append_new(t->lists[REFUSED],
				      json_sprintf("%s: %s", name, errno_name(err)));
	else
		json_array_append_new(t->lists[OPENED], json_string(name));
	json_decref(attr);
}

static int open_slots(struct step *s, const struct trial *t)
{
	bool is_open;
	json_t *attr = attr_of_event(t->pmu, "slots", &is_open);
	int fd = -1;

	if (attr)
		open_terms(s, attr, t->is_wide, -1, &fd);
	json_decref(attr);
	return fd;
}

struct pmu_step {
	char pmu[64];
};

static int run_pmu_events(struct step *s)
{
	static const char *const keys[LISTS] = {"tried", "opened", "refused", "unread"};
	const struct pmu_step *a = s->arguments;
	struct trial t = {.pmu = environment_pmu(s->run->env, a->pmu),
			  .is_wide = is_cpu_wide(a->pmu),
			  .slots = -1};
	struct dirent *entry;
	char path[160];
	DIR *dir;

	for (size_t i = 0; i < LISTS; i++)
		t.lists[i] = json_array();
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events", a->pmu);
	dir = t.pmu ? opendir(path) : NULL;
	if (dir)
		t.slots = open_slots(s, &t);
	while (dir && (entry = readdir(dir)))
		if (!strchr(entry->d_name, '.')) /* name.unit, name.scale */
			try_event(s, &t, entry->d_name);
	if (t.slots >= 0)
		close(t.slots);
	if (dir)
		closedir(dir);
	for (size_t i = 0; i < LISTS; i++)
		step_show(s, keys[i], t.lists[i]);
	return 0;
}

static const struct member pmu_shows[] = {
	{"tried", {.kind = SHAPE_NAMES}, NULL},
	{"opened", {.kind = SHAPE_NAMES}, NULL},
	{"refused", {.kind = SHAPE_NAMES}, "each with the errno behind it"},
	{"unread", {.kind = SHAPE_NAMES}, "those with a term that format/ does not have"},
	{0}};

const struct verb pmu_verbs[] = {
	{.name = "pmu-events",
	 .help = "each file in events/ of that PMU, opened",
	 .run = run_pmu_events,
	 .c = "@= = try_pmu_events(@pmu-events);",
	 .c_value = "struct pmu_events: tried[] opened[] refused[] unread[]",
	 .kind = SHOWS,
	 .binds = BINDS_SHOWN,
	 .shows = {.kind = SHAPE_OBJECT, .members = pmu_shows},
	 ARGUMENTS(struct pmu_step, {"pmu-events", &argument_text, MEMBER(struct pmu_step, pmu)})},
	{0}};
