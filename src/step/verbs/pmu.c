/* SPDX-License-Identifier: MIT */
/*
 * The verb that tries the events which a PMU names in sysfs.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/small_file.h"
#include "machine/names.h"
#include "step/step.h"
#include "step/types.h"
#include "step/verbs/verbs.h"

/* Lays a term's value over config, config1 or config2, as the PMU's format/ has its bits. */
static int apply_term(const char *pmu, const char *name, uint64_t value, json_t *attr)
{
	char path[512], format[128], *at;
	json_t *field;
	uint64_t word;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/%s", pmu, name);
	if (read_line(path, format, sizeof(format)) < 0)
		return -ENOENT;
	at = strchr(format, ':');
	if (!at)
		return -EINVAL;
	*at++ = '\0';
	field = json_object_get(attr, format);
	word = field ? strtoull(json_string_value(field), NULL, 0) : 0;
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

/* "event=0x3c,umask=1" to the fields of an attr; what has a "?" is for people to fill in. */
static json_t *attr_of_terms(const char *pmu, uint32_t type, char *terms)
{
	json_t *attr = json_pack("{s:I,s:i}", "type", (json_int_t)type, "disabled", 1);
	char *save = NULL;

	for (char *term = strtok_r(terms, ",", &save); term; term = strtok_r(NULL, ",", &save)) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		if ((value && strchr(value, '?')) ||
		    apply_term(pmu, term, value ? strtoull(value, NULL, 0) : 1, attr)) {
			json_decref(attr);
			return NULL;
		}
	}
	return attr;
}

static int open_terms(struct step *s, json_t *attr, int pid, int cpu)
{
	json_t *open_json = json_pack("{s:O,s:i,s:i}", "attr", attr, "pid", pid, "cpu", cpu);
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
	if (!err && answer.fd >= 0)
		close(answer.fd);
	return err ? err : answer.err;
}

/* Whether a PMU counts for cpus alone: then it has a cpumask. */
static bool is_cpu_wide(const char *pmu)
{
	char path[300];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpumask", pmu);
	return !access(path, R_OK);
}

static void try_event(struct step *s, const char *pmu, const char *name, json_t *lists[3])
{
	const struct pmu *known = environment_pmu(s->run->env, pmu);
	bool wide = is_cpu_wide(pmu);
	char path[640], terms[512];
	json_t *attr;
	int err;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/%s", pmu, name);
	if (!known || strchr(name, '.') || read_line(path, terms, sizeof(terms)) < 0)
		return; /* name.unit, name.scale */
	json_array_append_new(lists[0], json_string(name));
	attr = attr_of_terms(pmu, known->type, terms);
	if (!attr)
		return;
	err = open_terms(s, attr, wide ? -1 : 0, wide ? 0 : -1);
	if (err)
		json_array_append_new(lists[2], json_sprintf("%s: %s", name, errno_name(err)));
	else
		json_array_append_new(lists[1], json_string(name));
	json_decref(attr);
}

struct pmu_step {
	char pmu[64];
};

static int run_pmu_events(struct step *s)
{
	static const char *const keys[] = {"tried", "opened", "refused"};
	const struct pmu_step *a = s->arguments;
	json_t *lists[3] = {json_array(), json_array(), json_array()};
	struct dirent *entry;
	char path[160];
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events", a->pmu);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		try_event(s, a->pmu, entry->d_name, lists);
	if (dir)
		closedir(dir);
	for (size_t i = 0; i < 3; i++)
		step_show(s, keys[i], lists[i]);
	return 0;
}

static const struct member pmu_shows[] = {
	{"tried", {.kind = SHAPE_NAMES}, NULL},
	{"opened", {.kind = SHAPE_NAMES}, NULL},
	{"refused", {.kind = SHAPE_NAMES}, "each with the errno behind it"},
	{0}};

const struct verb pmu_verbs[] = {
	{.name = "pmu-events",
	 .help = "each file in events/ of that PMU, opened",
	 .run = run_pmu_events,
	 .kind = SHOWS,
	 .binds = BINDS_SHOWN,
	 .shows = {.kind = SHAPE_OBJECT, .members = pmu_shows},
	 .size = sizeof(struct pmu_step),
	 .arguments =
		 (const struct argument[]){
			 {"pmu-events", &argument_text, MEMBER(struct pmu_step, pmu)}, {0}}},
	{0}};
