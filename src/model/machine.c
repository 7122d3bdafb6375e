/* SPDX-License-Identifier: MIT */
/*
 * A machine, and what of it is looked up once.
 */
#include "model/machine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/proc.h"
#include "machine/tracefs.h"

static const struct abi_value *event_type(const struct abi *abi, const char *name)
{
	return abi_value(abi_family(abi, "type"), name, NULL);
}

void machine_init(struct machine *machine, struct environment *env, const struct kinds *kinds,
		  struct learned *learned)
{
	static const char *const of_hardware[] = {"hardware", "hw_cache", "raw"};
	const struct abi *abi = env->abi;

	*machine = (struct machine){
		.env = env,
		.kinds = kinds,
		.learned = learned,
		.size = abi_field(abi, "size"),
		.type = abi_field(abi, "type"),
		.config = abi_field(abi, "config"),
		.config1 = abi_field(abi, "config1"),
		.config2 = abi_field(abi, "config2"),
		.bp_type = abi_field(abi, "bp_type"),
		.use_clockid = abi_field(abi, "use_clockid"),
		.clockid = abi_field(abi, "clockid"),
		.read_format = abi_field(abi, "read_format"),
		.bits = lesson_field(abi, "attr.bits"),
		.pid_cgroup = abi_value(abi_family(abi, "open_flags"), "pid_cgroup", NULL)->value,
		.type_raw = event_type(abi, "raw")->value,
		.breakpoints = {learned_find(learned, "kernel.code_breakpoints"),
				learned_find(learned, "kernel.data_breakpoints")},
		.user_end = learned_find(learned, "kernel.user_end"),
		.extended_types = learned_find(learned, "kernel.has_extended_types")};
	for (size_t i = 0; i < sizeof(of_hardware) / sizeof(of_hardware[0]); i++)
		machine->hardware_types |= UINT64_C(1) << event_type(abi, of_hardware[i])->value;
}

/* Grows the table to hold that id. 0 or -ENOMEM. */
static int make_room(struct machine *machine, size_t id)
{
	size_t limit = machine->tracepoint_limit ? machine->tracepoint_limit : 1024;
	unsigned char *grown;

	while (limit <= id)
		limit *= 2;
	if (limit == machine->tracepoint_limit)
		return 0;
	grown = realloc(machine->tracepoints, limit);
	if (!grown)
		return -ENOMEM;
	memset(grown + machine->tracepoint_limit, 0, limit - machine->tracepoint_limit);
	machine->tracepoints = grown;
	machine->tracepoint_limit = limit;
	return 0;
}

int machine_add_tracepoint(struct machine *machine, const char *name, size_t id)
{
	enum { IDS_MAX = 1 << 20 };

	if (id >= IDS_MAX)
		return 0;
	if (make_room(machine, id))
		return -ENOMEM;
	machine->tracepoints[id] =
		(unsigned char)(kinds_classes(machine->kinds, name) | 1U << TRACEPOINT_EXISTS_BIT);
	return 0;
}

static int note_tracepoint(struct machine *machine, int events, const char *system,
			   const char *name)
{
	char path[600], text[24];
	unsigned long id;

	snprintf(path, sizeof(path), "%s/%s/id", system, name);
	if (read_small_at(events, path, text, sizeof(text)) <= 0)
		return 0; /* it is a file, or an event that perf does not have */
	id = strtoul(text, NULL, 10);
	snprintf(path, sizeof(path), "%s:%s", system, name);
	return machine_add_tracepoint(machine, path, id);
}

static DIR *open_folder(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder && fd >= 0)
		close(fd);
	return folder;
}

static int note_system(struct machine *machine, int events, const char *system)
{
	DIR *folder = open_folder(events, system);
	struct dirent *entry;
	int err = 0;

	while (folder && !err && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			err = note_tracepoint(machine, events, system, entry->d_name);
	if (folder)
		closedir(folder);
	return err;
}

int machine_read_tracepoints(struct machine *machine)
{
	int root = tracefs_open(), err = 0;
	DIR *events = root < 0 ? NULL : open_folder(root, "events");
	struct dirent *entry;

	if (events)
		err = make_room(machine, 0);
	while (events && !err && (entry = readdir(events)))
		if (entry->d_name[0] != '.')
			err = note_system(machine, dirfd(events), entry->d_name);
	if (events)
		closedir(events);
	if (root >= 0)
		close(root);
	return err;
}

bool machine_has_other_pmus(const struct machine *machine)
{
	for (size_t i = 0; i < machine->env->pmu_count; i++)
		if (!kinds_find(machine->kinds, machine->env->pmus[i].name))
			return true;
	return false;
}

bool machine_is_processors(const struct machine *machine, const struct pmu *pmu)
{
	return pmu->cpus[0] || kinds_is_processor(machine->kinds, pmu->name);
}

const struct pmu *machine_processors_pmu(const struct machine *machine)
{
	const struct environment *env = machine->env;

	for (size_t i = 0; i < env->pmu_count; i++)
		if (machine_is_processors(machine, &env->pmus[i]))
			return &env->pmus[i];
	return NULL;
}

void machine_free(struct machine *machine)
{
	free(machine->tracepoints);
	machine->tracepoints = NULL;
}
