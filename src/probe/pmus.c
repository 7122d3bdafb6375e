/* SPDX-License-Identifier: MIT */
/*
 * /sys/bus/event_source/devices: for each PMU its format, events, caps and cpus
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices).
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "machine/clock.h"
#include "machine/small_file.h"
#include "probe/tried.h"

#define ASKING_SECONDS 0.3 /* for all PMUs: a server has hundreds */

static const char root[] = "/sys/bus/event_source/devices";

/* Of the files of a folder the first line of each, in their names' order; nothing, where there is
 * no folder. */
static json_t *folder_json(const char *pmu, const char *folder)
{
	char path[512], text[512];
	json_t *json = json_object();
	struct dirent **entries = NULL;
	int count;

	snprintf(path, sizeof(path), "%s/%s/%s", root, pmu, folder);
	count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (name[0] != '.' &&
		    snprintf(path, sizeof(path), "%s/%s/%s/%s", root, pmu, folder, name) <
			    (int)sizeof(path) &&
		    read_line(path, text, sizeof(text)) >= 0)
			json_object_set_new(json, name, json_string(text));
		free(entries[i]);
	}
	free(entries);
	return json;
}

static void set_folder(json_t *json, const char *pmu, const char *folder)
{
	json_t *files = folder_json(pmu, folder);

	if (json_object_size(files))
		json_object_set(json, folder, files);
	json_decref(files);
}

static json_t *pmu_json(const struct probe *probe, const struct pmu *pmu, double deadline)
{
	json_t *json = json_pack("{s:s, s:I}", "name", pmu->name, "type", (json_int_t)pmu->type);

	if (machine_is_processors(&probe->model->machine, pmu))
		json_object_set_new(json, "processors", json_true());
	if (pmu->cpus[0])
		json_object_set_new(json, "cpus", json_string(pmu->cpus));
	if (pmu->cpumask[0])
		json_object_set_new(json, "cpumask", json_string(pmu->cpumask));
	set_folder(json, pmu->name, "format");
	set_folder(json, pmu->name, "events");
	set_folder(json, pmu->name, "caps");
	pmu_try(probe, pmu, json, deadline);
	return json;
}

json_t *pmus_json(const struct probe *probe)
{
	double deadline = clock_processor_seconds() + ASKING_SECONDS;
	json_t *list = json_array();

	for (size_t i = 0; i < probe->env->pmu_count; i++)
		json_array_append_new(list, pmu_json(probe, &probe->env->pmus[i], deadline));
	return list;
}
