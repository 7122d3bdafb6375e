/* SPDX-License-Identifier: MIT */
/*
 * /sys/bus/event_source/devices: for each PMU its format, events, caps and cpus
 * (Documentation/ABI/testing/sysfs-bus-event_source-devices).
 */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/value.h"
#include "call/call.h"
#include "machine/clock.h"
#include "machine/names.h"
#include "machine/environment.h"
#include "machine/proc.h"
#include "probe/probe.h"
#include "text/json_text.h"

/*
 * What a PMU does when it is asked, by whoever runs perfabi: whether a kind of cores counts and
 * samples cycles, what comes of each event in its events/, whether it writes AUX data. Each event
 * runs for a moment beside a load on a cpu that is the PMU's.
 */

enum { AUX_PAGES = 16, DATA_PAGES = 8, SAMPLE_PERIOD = 100000 };
enum { FIRST_OF_SYSFS = 6 }; /* PERF_TYPE_MAX: types below are no PMU of their own */

static const double moment = 0.0005, while_traced = 0.005; /* seconds */

/* Where the PMU's events are opened, and the load runs. */
struct place {
	pid_t pid;
	int cpu;
	cpu_set_t before;
	bool is_known; /* where the process may run was found out */
};

/* A PMU with a cpumask counts a whole cpu of it; another counts this task, on a cpu of its own. */
static struct place place_of(const struct pmu *pmu, const struct environment *env)
{
	struct place place = {.pid = 0, .cpu = -1};
	const int cpu = environment_cpu_of_pmu(env, pmu);
	cpu_set_t one;

	place.is_known = !sched_getaffinity(0, sizeof(place.before), &place.before);
	if (pmu->cpumask[0]) {
		place.pid = -1;
		place.cpu = cpu;
	}
	if (cpu < 0 || !place.is_known)
		return place;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	/* Else the load runs elsewhere: what counts, counts less. */
	sched_setaffinity(0, sizeof(one), &one);
	return place;
}

/* The attr as sysfs's terms or a literal gave it, whose reference it takes: a file descriptor, or
 * -errno. */
static int open_at(const struct environment *env, const struct place *place, json_t *fields)
{
	struct call call = {.image = or_exit(calloc(1, env->abi->attr_size)),
			    .pid = place->pid,
			    .cpu = place->cpu,
			    .group_fd = -1,
			    .flags = PERF_FLAG_FD_CLOEXEC};
	struct answer answer = {.fd = -1};
	struct where nowhere = {0};
	struct error e = {0};
	int err = attr_from_json(env->abi, NULL, fields, NULL, &nowhere, call.image, &e);

	if (!err)
		err = call_issue(&call, env, &answer);
	call_free(&call);
	json_decref(fields);
	return err ? err : answer.fd >= 0 ? answer.fd : -answer.err;
}

/* Something to count: instructions, system calls, a page that is new. */
static void work_for(double seconds)
{
	double end = clock_processor_seconds() + seconds;

	do {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		for (volatile int i = 0; i < 2000; i++)
			;
		if (page == MAP_FAILED)
			continue;
		*(volatile char *)page = 1;
		munmap(page, 4096);
	} while (clock_processor_seconds() < end);
}

/* The event, that is off, counts for so long. */
static void run_for(int fd, double seconds)
{
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	work_for(seconds);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

static json_t *refused(int err)
{
	return json_pack("{s:s, s:s}", "answer", err == EACCES || err == EPERM ? "denied" : "no",
			 "errno", errno_name(err));
}

static json_t *answered(const char *answer, const char *because)
{
	return json_pack("{s:s, s:s}", "answer", answer, "because", because);
}

/* What an open event, that is off, has counted in a moment, under a load of which `zero` is the
 * answer if it is nothing; closes it. */
static json_t *what_it_counts(int fd, const char *zero)
{
	struct {
		uint64_t value, enabled, running;
	} read_out = {0};
	bool is_read;

	if (fd < 0)
		return refused(-fd);
	run_for(fd, moment);
	is_read = read(fd, &read_out, sizeof(read_out)) == (ssize_t)sizeof(read_out);
	close(fd);
	if (!is_read || !read_out.running)
		return answered("no", "it opens, and is never on a counter");
	if (!read_out.value)
		return answered(zero, "it opens, and counts nothing");
	return json_pack("{s:s, s:I}", "answer", "yes", "count", (json_int_t)read_out.value);
}

static void with_times(json_t *fields)
{
	json_object_set_new(fields, "read_format",
			    json_pack("[s, s]", "total_time_enabled", "total_time_running"));
	json_object_set_new(fields, "disabled", json_integer(1));
}

/* One event of events/, whose terms these are. */
static json_t *try_listed(const struct environment *env, const struct pmu *pmu,
			  const struct place *place, const char *terms)
{
	char text[512];
	json_t *fields;

	if (strchr(terms, '?'))
		return answered("unknown", "it has a value that people fill in");
	snprintf(text, sizeof(text), "%s", terms);
	fields = json_pack("{s:I}", "type", (json_int_t)pmu->type);
	if (pmu_terms(pmu->name, text, fields)) {
		json_decref(fields);
		return answered("unknown", "its terms are not those of format");
	}
	with_times(fields);
	return what_it_counts(open_at(env, place, fields), "unknown");
}

static json_t *try_events(const struct probe *probe, const struct pmu *pmu,
			  const struct place *place, const json_t *events, double deadline)
{
	static const char *const beside[] = {".unit", ".scale", ".snapshot", ".per-pkg", NULL};
	json_t *answers = json_object(), *terms;
	const char *name;

	json_object_foreach((json_t *)events, name, terms) {
		const char *dot = strrchr(name, '.');

		/* Files beside an event say its unit and scale, and are none: "energy-pkg.unit". */
		if (dot && name_index(dot, beside, NULL) >= 0)
			continue;
		json_object_set_new(
			answers, name,
			clock_processor_seconds() > deadline
				? answered("unknown", "the time was over")
				: try_listed(probe->env, pmu, place, json_string_value(terms)));
	}
	return answers;
}

/* Of one kind of cores: the PMU's type stands above the event's (PERF_PMU_TYPE_SHIFT). */
static json_t *cycles_of(const struct pmu *pmu, json_int_t sample_period)
{
	uint64_t config = (uint64_t)pmu->type << 32 | PERF_COUNT_HW_CPU_CYCLES;
	json_t *fields =
		json_pack("{s:i, s:i, s:o, s:I}", "type", PERF_TYPE_HARDWARE, "exclude_kernel", 1,
			  "config", value_json(config), "sample_period", sample_period);

	with_times(fields);
	return fields;
}

/*
 * Whether something comes: what the kernel has written into the buffer by the end, or where
 * `of_aux` into its AUX area; closes the event, which is off. NULL: it can have no AUX area.
 */
static json_t *what_it_writes(int fd, size_t page_size, bool of_aux)
{
	size_t size = (1 + DATA_PAGES) * page_size, aux_size = AUX_PAGES * page_size;
	struct perf_event_mmap_page *page;
	json_t *answer;
	void *aux = NULL;
	const __u64 *head;

	if (fd < 0)
		return of_aux ? NULL : refused(-fd);
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	answer = page == MAP_FAILED && !of_aux ? refused(errno) : NULL;
	if (page != MAP_FAILED && of_aux) {
		page->aux_offset = page->aux_size = aux_size;
		aux = mmap(NULL, aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)aux_size);
		if (aux == MAP_FAILED && errno != EOPNOTSUPP)
			answer = refused(errno);
	}
	if (page != MAP_FAILED && aux != MAP_FAILED) {
		run_for(fd, while_traced);
		head = of_aux ? &page->aux_head : &page->data_head;
		answer = __atomic_load_n(head, __ATOMIC_ACQUIRE)
				 ? json_pack("{s:s}", "answer", "yes")
				 : answered("no", of_aux ? "it opens, and no trace comes"
							 : "it opens, and no sample comes");
	}
	if (aux && aux != MAP_FAILED)
		munmap(aux, aux_size);
	if (page != MAP_FAILED)
		munmap(page, size);
	close(fd);
	return answer;
}

static json_t *try_cycles(const struct probe *probe, const struct pmu *pmu,
			  const struct place *place)
{
	int fd = open_at(probe->env, place, cycles_of(pmu, 0));
	json_t *counts = what_it_counts(fd, "no");

	fd = open_at(probe->env, place, cycles_of(pmu, SAMPLE_PERIOD));
	return json_pack("{s:o, s:o}", "counts", counts, "samples",
			 what_it_writes(fd, probe->env->page_size, false));
}

#define ASKING_SECONDS 0.3 /* for all PMUs: a server has hundreds */

static const char root[] = "/sys/bus/event_source/devices";

/* Of the files of a folder the first line of each, in their names' order; NULL: it has none. */
static json_t *folder_json(const char *pmu, const char *folder)
{
	char path[512], text[512];
	json_t *files = NULL;
	struct dirent **entries = NULL;
	int count;

	snprintf(path, sizeof(path), "%s/%s/%s", root, pmu, folder);
	count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (name[0] != '.' &&
		    snprintf(path, sizeof(path), "%s/%s/%s/%s", root, pmu, folder, name) <
			    (int)sizeof(path) &&
		    read_line(path, text, sizeof(text)) >= 0) {
			files = files ? files : json_object();
			json_object_set_new(files, name, json_string(text));
		}
		free(entries[i]);
	}
	free(entries);
	return files;
}

/*
 * What its files say, and what it does: `cycles` (of a processor's), `tried` (of each event in its
 * events/) and `aux` (where it can have an AUX area). The caller's affinity is afterwards what it
 * was. Events that come behind `deadline`, in seconds of clock_processor_seconds(), are not asked,
 * and say so.
 */
static json_t *pmu_json(const struct probe *probe, const struct pmu *pmu, double deadline)
{
	bool is_processor = machine_is_processors(&probe->model->machine, pmu);
	json_t *events = folder_json(pmu->name, "events"), *aux = NULL, *tried = NULL, *cycles,
	       *plain;
	struct place place = place_of(pmu, probe->env);

	cycles = is_processor ? try_cycles(probe, pmu, &place) : NULL;
	if (events)
		tried = try_events(probe, pmu, &place, events, deadline);
	if (pmu->type >= FIRST_OF_SYSFS && clock_processor_seconds() < deadline) {
		plain = json_pack("{s:I, s:i}", "type", (json_int_t)pmu->type, "disabled", 1);
		/* Of one that does not open nothing is known. */
		aux = what_it_writes(open_at(probe->env, &place, plain), probe->env->page_size,
				     true);
	}
	if (place.is_known)
		sched_setaffinity(0, sizeof(place.before), &place.before);
	return json_pack("{s:s, s:I, s:o*, s:s*, s:s*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*}", "name",
			 pmu->name, "type", (json_int_t)pmu->type, "processors",
			 is_processor ? json_true() : NULL, "cpus", pmu->cpus[0] ? pmu->cpus : NULL,
			 "cpumask", pmu->cpumask[0] ? pmu->cpumask : NULL, "format",
			 folder_json(pmu->name, "format"), "events", events, "caps",
			 folder_json(pmu->name, "caps"), "cycles", cycles, "tried", tried, "aux",
			 aux);
}

json_t *pmus_json(const struct probe *probe)
{
	double deadline = clock_processor_seconds() + ASKING_SECONDS;
	json_t *list = json_array();

	for (size_t i = 0; i < probe->env->pmu_count; i++)
		json_array_append_new(list, pmu_json(probe, &probe->env->pmus[i], deadline));
	return list;
}
