/* SPDX-License-Identifier: MIT */
/*
 * A machine, and what of it is looked up once.
 */
#include "model/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "abi/attr.h"
#include "abi/value.h"
#include "machine/proc.h"
#include "machine/environment.h"
#include "text/json_text.h"
#include "text/source.h"

/*
 * Loading the kinds, and finding them.
 */

static int read_mask(struct doc *d, const json_t *json, void *to, const struct where *w)
{
	const char *text = json_string_value(json);
	struct learned_mask *mask = to;
	struct value value;

	if (text && text[0] == '$') {
		mask->learned = text + 1;
		return 0;
	}
	if (value_eval(json, NULL, NULL, w, &value, d->e))
		return -EINVAL;
	mask->bits = value.bits;
	return 0;
}

#define PROPERTY(key, which)                                                                       \
	{                                                                                          \
		key, DOC_NUMBER, .at = offsetof(struct pmu_kind, has) + which * sizeof(uint32_t),  \
				 .most = 1                                                         \
	}

static const struct doc_row kind_rows[] = {{"about", .kind = DOC_TEXT, .at = DOC_NOWHERE},
					   PROPERTY("modelled", PMU_MODELLED),
					   PROPERTY("excludes", PMU_EXCLUDES),
					   PROPERTY("all_clocks", PMU_ALL_CLOCKS),
					   PROPERTY("samples", PMU_SAMPLES),
					   PROPERTY("tasks", PMU_TASKS),
					   PROPERTY("extended_regs", PMU_EXTENDED_REGS),
					   PROPERTY("simd_regs", PMU_SIMD_REGS),
					   PROPERTY("aux_output", PMU_AUX_OUTPUT),
					   PROPERTY("aux_pause", PMU_AUX_PAUSE),
					   {"configs", DOC_READ, false,
					    AT(struct pmu_kind, configs), .read = read_mask,
					    .takes = "number_or_fact"},
					   {"type", DOC_READ, false, AT(struct pmu_kind, type),
					    .read = read_mask, .takes = "number_or_fact"},
					   {0}};
static const struct doc_type kind_type = {"a kind of PMU", kind_rows,
					  .size = sizeof(struct pmu_kind)};

static const struct doc_row class_rows[] = {
	{"about", DOC_TEXT, true, AT(struct tracepoint_class, about)},
	{"names", DOC_STRINGS, true, AT(struct tracepoint_class, names)},
	{0}};
static const struct doc_type class_type = {"a class of tracepoints", class_rows,
					   .size = sizeof(struct tracepoint_class)};

static const struct doc_type own_names_type = {
	"names of what only some machines have",
	(const struct doc_row[]){{"names", DOC_STRINGS, true, AT(struct own_names, names)},
				 {"by", DOC_STRINGS, true, AT(struct own_names, by)},
				 {0}},
	.size = sizeof(struct own_names)};

static const struct doc_row file_rows[] = {
	{"$schema", .kind = DOC_ANY, .at = DOC_NOWHERE},
	{"about", .kind = DOC_TEXT, .at = DOC_NOWHERE},
	{"pmus", DOC_MAP, true, AT(struct model_file, kinds.list), &kind_type,
	 offsetof(struct model_file, kinds.count)},
	{"processors", DOC_OBJECT, true, AT(struct model_file, kinds.processors), &class_type},
	{"tracepoints", DOC_MAP, true, AT(struct model_file, kinds.classes), &class_type,
	 offsetof(struct model_file, kinds.class_count), .most = CLASSES_MAX},
	{"learned", DOC_READ, true, AT(struct model_file, learned), .read = learned_read,
	 .type = &learned_item_type},
	{"own_names", DOC_LIST, true, AT(struct model_file, own_names), &own_names_type,
	 offsetof(struct model_file, own_name_count)},
	{"words", DOC_ANY, true, AT(struct model_file, words), .takes = "words"},
	{"terms", DOC_ANY, true, AT(struct model_file, terms), .takes = "terms"},
	{0}};
const struct doc_type model_file_type = {"model.json", file_rows,
					 .size = sizeof(struct model_file)};

int model_file_load(struct model_file *file, const struct source *source, struct arena *arena,
		    struct error *e)
{
	struct doc d = {arena, e, NULL};
	struct abi_value *names;

	if (doc_load(&d, &model_file_type, source, file))
		return -EINVAL;
	names = or_exit(arena_array(arena, file->kinds.count + 1, sizeof(*names)));
	for (size_t i = 0; i < file->kinds.count; i++)
		names[i] = (struct abi_value){.name = file->kinds.list[i].name, .value = i + 1};
	file->kinds.names = (struct abi_family){
		.name = "pmu_kind", .prefix = "", .values = names, .count = file->kinds.count};
	return 0;
}

json_t *learned_for_report(const struct source *model, struct environment *env)
{
	struct model_file file;
	struct arena arena = {0};
	struct error e = {0};
	json_t *json = NULL;

	if (!model_file_load(&file, model, &arena, &e)) {
		learned_learn(&file.learned, env);
		json = learned_json(&file.learned);
	}
	arena_free(&arena);
	return json;
}

const struct pmu_kind *kinds_find(const struct kinds *kinds, const char *name)
{
	for (size_t i = 0; i < kinds->count; i++)
		if (!strcmp(kinds->list[i].name, name))
			return &kinds->list[i];
	return NULL;
}

bool globs_match(const char *const *globs, const char *name)
{
	for (; globs && *globs; globs++)
		if (!fnmatch(*globs, name, 0))
			return true;
	return false;
}

/* The classes that a tracepoint "system:name" is in, as a mask. */
static unsigned kinds_classes(const struct kinds *kinds, const char *tracepoint)
{
	unsigned mask = 0;

	for (size_t i = 0; i < kinds->class_count; i++)
		if (globs_match(kinds->classes[i].names, tracepoint))
			mask |= 1U << i;
	return mask;
}

bool kinds_is_processor(const struct kinds *kinds, const char *pmu)
{
	return globs_match(kinds->processors.names, pmu);
}

static const struct abi_value *event_type(const struct abi *abi, const char *name)
{
	return abi_value(abi_family(abi, "type"), name, NULL);
}

void machine_init(struct machine *machine, struct environment *env, const struct kinds *kinds,
		  struct learned *learned)
{
	static const char *const of_hardware[] = {"hardware", "hw_cache", "raw"};
	const struct abi *abi = env->abi;

	*machine = (struct machine){.env = env,
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
				    .bits = learned_field(abi, "attr.bits"),
				    .pid_cgroup = abi_number(abi, "open_flags", "pid_cgroup"),
				    .type_raw = event_type(abi, "raw")->value};
	for (size_t i = 0; i < sizeof(of_hardware) / sizeof(of_hardware[0]); i++)
		machine->hardware_types |= UINT64_C(1) << event_type(abi, of_hardware[i])->value;
}

/* Grows the table to hold that id. */
static void make_room(struct machine *machine, size_t id)
{
	size_t limit = machine->tracepoint_limit ? machine->tracepoint_limit : 1024;

	while (limit <= id)
		limit *= 2;
	if (limit == machine->tracepoint_limit)
		return;
	machine->tracepoints = or_exit(realloc(machine->tracepoints, limit));
	memset(machine->tracepoints + machine->tracepoint_limit, 0,
	       limit - machine->tracepoint_limit);
	machine->tracepoint_limit = limit;
}

void machine_add_tracepoint(struct machine *machine, const char *name, size_t id)
{
	enum { IDS_MAX = 1 << 20 };

	if (id >= IDS_MAX)
		return;
	make_room(machine, id);
	machine->tracepoints[id] =
		(unsigned char)(kinds_classes(machine->kinds, name) | 1U << TRACEPOINT_EXISTS_BIT);
}

static void note_system(struct machine *machine, int events, const char *system)
{
	DIR *folder = folder_open_at(events, system);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char path[600], text[24];

		snprintf(path, sizeof(path), "%s/%s/id", system, entry->d_name);
		/* else it is a file, or an event that perf does not have */
		if (entry->d_name[0] != '.' &&
		    read_small_at(events, path, text, sizeof(text)) > 0) {
			snprintf(path, sizeof(path), "%s:%s", system, entry->d_name);
			machine_add_tracepoint(machine, path, strtoul(text, NULL, 10));
		}
	}
	if (folder)
		closedir(folder);
}

void machine_read_tracepoints(struct machine *machine)
{
	int root = tracefs_open();
	DIR *events = root < 0 ? NULL : folder_open_at(root, "events");
	struct dirent *entry;

	if (events)
		make_room(machine, 0);
	while (events && (entry = readdir(events)))
		if (entry->d_name[0] != '.')
			note_system(machine, dirfd(events), entry->d_name);
	if (events)
		closedir(events);
	if (root >= 0)
		close(root);
}

bool machine_is_hardware(const struct machine *machine, uint64_t type)
{
	return type < 64 && machine->hardware_types >> type & 1;
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

/*
 * Reading this process's memory as the kernel does: what is not there is an answer, no signal.
 */

/* Bytes up to the next page of the smallest size there is: all of them can be read, or none. */
static size_t to_page_end(uint64_t address)
{
	enum { SMALLEST_PAGE = 4096 };

	return SMALLEST_PAGE - (size_t)(address & (SMALLEST_PAGE - 1));
}

/* Copies the text with its NUL, as far as it can be read and fits; the bytes that came. */
static size_t copy_text(uint64_t address, char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t n = to_page_end(address + at);
		struct iovec to = {.iov_base = text + at, .iov_len = n < size - at ? n : size - at};
		struct iovec from = {.iov_base = (void *)(uintptr_t)(address + at),
				     .iov_len = to.iov_len};
		ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

		if (got <= 0)
			return at;
		at += (size_t)got;
		if (memchr(to.iov_base, 0, (size_t)got))
			return at;
	}
	return at;
}

static void look_at_file(const char *path, struct text_at *out)
{
	struct statfs fs;
	struct stat st;

	out->err = stat(path, &st) ? errno : 0;
	if (out->err)
		return;
	out->is_regular = S_ISREG(st.st_mode);
	out->size = (uint64_t)st.st_size;
	out->is_nameless = !st.st_nlink;
	/* The files of these have no pages. */
	out->has_pages = !statfs(path, &fs) && (unsigned long)fs.f_type != PROC_SUPER_MAGIC &&
			 (unsigned long)fs.f_type != SYSFS_MAGIC;
}

void text_read_at(uint64_t address, struct text_at *out)
{
	char text[TEXT_AT_MAX];
	size_t n = address == (uintptr_t)address ? copy_text(address, text, sizeof(text)) : 0;
	const char *end = memchr(text, 0, n);

	*out = (struct text_at){.length = end ? (uint64_t)(end - text) : n,
				.is_readable = end || n == sizeof(text)};
	if (end)
		look_at_file(text, out);
}

/*
 * Looking a process up. Access is ptrace(2)'s: by uid, and by capability; what a security module
 * says to it is not known, and that a process is not dumpable shows in whose its files are.
 */

/* The kernel's own limit of pids, PID_MAX_LIMIT; it may be less. */
enum { PIDS_MOST = 4 << 20 };

/*
 * An ordinary user that perfabi becomes has a uid of its own, that no other process has; perfabi as
 * an ordinary user stays who it is.
 */
static bool is_of_caller(const struct caller *caller, const unsigned uids[4])
{
	unsigned own = (unsigned)getuid();

	if (caller->changes_uid && caller->as != AS_ROOT && !own)
		return false;
	return uids[0] == own && uids[1] == own && uids[2] == own;
}

/* Whether it is in the user namespace of this process: 1, 0, or -1: that does not show. */
static int shares_user_namespace(int32_t id)
{
	char path[40], own[64], its[64];
	ssize_t n = readlink("/proc/self/ns/user", own, sizeof(own)), m;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", id);
	m = readlink(path, its, sizeof(its));
	return n < 0 || m < 0 ? -1 : n == m && !memcmp(own, its, (size_t)n);
}

/* The file is root's where the process is not, or has no memory; of root's own it does not show. */
static bool is_dumpable(const char *path, unsigned uid)
{
	struct stat st;

	return stat(path, &st) || st.st_uid == uid;
}

static bool look_up_process(const struct caller *caller, int32_t id, struct object_task *out)
{
	enum { PF_EXITING = 4 }; /* of include/linux/sched.h */
	char folder[32], path[40], status[4096];
	const char *uid, *capabilities;
	unsigned long long permitted;
	unsigned uids[4]; /* real to file system */
	struct proc_stat stat;
	int shares;

	snprintf(folder, sizeof(folder), "/proc/%d", id);
	snprintf(path, sizeof(path), "%s/status", folder);
	*out = (struct object_task){.id = id};
	if (!proc_is_own())
		return false;
	if (access(path, F_OK)) /* hidepid hides what is there: then nothing is known of it */
		return kill(id, 0) && errno == ESRCH;
	if (read_small(path, status, sizeof(status)) <= 0 || !(uid = strstr(status, "\nUid:")) ||
	    !(capabilities = strstr(status, "\nCapPrm:")) ||
	    sscanf(uid, "\nUid: %u %u %u %u", &uids[0], &uids[1], &uids[2], &uids[3]) != 4 ||
	    sscanf(capabilities, "\nCapPrm: %llx", &permitted) != 1)
		return false;
	if (caller->is_unnamed && uids[0] == IDENTITY_NOBODY)
		return false;
	out->is_own = is_of_caller(caller, uids);
	out->exists = true;
	/* From the beginning of its exit on, which may take a while. */
	out->is_exiting = proc_stat_read(folder, &stat) && stat.flags & PF_EXITING;
	/* __ptrace_may_access() and cap_ptrace_access_check() */
	out->may_be_read = caller->own >> CAP_SYS_PTRACE & 1 ||
			   (out->is_own && (out->is_exiting || is_dumpable(path, uids[1])) &&
			    !(permitted & ~caller->own));
	out->may_be_attached = out->may_be_read;
	if (caller->capabilities >> CAP_SYS_PTRACE & 1)
		return true; /* in every user namespace */
	/* In another one it may be the caller's to rule, or not. */
	shares = shares_user_namespace(id);
	return shares > 0 || (shares < 0 && !out->may_be_read);
}

/*
 * What the objects say of the task of that id: from their list, or from /proc where they see
 * processes. False: it is not known. An id below 0 is nobody's.
 */
static bool object_task(const struct objects *objects, const struct caller *caller, int32_t id,
			struct object_task *out)
{
	for (size_t i = 0; i < objects->task_count; i++) {
		if (objects->tasks[i].id != id)
			continue;
		*out = objects->tasks[i];
		return true;
	}
	*out = (struct object_task){
		.id = id, .exists = !id, .may_be_read = true, .may_be_attached = true};
	if (id <= 0 || id >= PIDS_MOST)
		return true;
	return objects->sees_processes && look_up_process(caller, id, out);
}

/* The single bytes that a call lays over its attr. */
static void lay_over(const struct evaluation *s, unsigned char *attr, uint64_t end)
{
	for (size_t i = 0; i < s->call->poke_count; i++)
		if (s->call->pokes[i].offset < end)
			attr[s->call->pokes[i].offset] = s->call->pokes[i].byte;
}

/* The size comes first: it says how much there is to read. */
static void read_attr(struct evaluation *s)
{
	const struct abi *abi = s->machine->env->abi;
	const struct abi_field *size = s->machine->size;
	size_t kernels = s->machine->env->attr_size ? s->machine->env->attr_size : abi->attr_size;
	size_t n = size->offset + size->size;

	memcpy(s->attr, s->call->image, n);
	lay_over(s, s->attr, n);
	s->size_given = attr_get(size, s->attr, host_order());
	s->size = s->size_given ? s->size_given : abi->attr_smallest;
	n = s->size < kernels ? (size_t)s->size : kernels;
	n = n < ATTR_BYTES_MAX ? n : ATTR_BYTES_MAX;
	memset(s->attr, 0, sizeof(s->attr));
	memcpy(s->attr, s->call->image, n < abi->attr_size ? n : abi->attr_size);
	lay_over(s, s->attr, n);
	s->type = (uint32_t)attr_get(s->machine->type, s->attr, host_order());
	s->config = attr_get(s->machine->config, s->attr, host_order());
	s->config1 = attr_get(s->machine->config1, s->attr, host_order());
	s->config2 = attr_get(s->machine->config2, s->attr, host_order());
}

/* Those that sysfs does not show have a type that was learned. Where it shows none, some are known
 * by the type that <linux/perf_event.h> has of their name. */
static const struct pmu_kind *hidden_kind(const struct machine *machine, uint32_t type)
{
	const struct abi_value *name = abi_value_of(abi_family(machine->env->abi, "type"), type);

	for (size_t i = 0; i < machine->kinds->count; i++) {
		const struct pmu_kind *kind = &machine->kinds->list[i];
		uint64_t learned;

		if (type && learned_get(machine->learned, kind->type.learned, &learned) &&
		    learned == type)
			return kind;
		if (!machine->env->pmu_count && name && !strcmp(kind->name, name->name))
			return kind;
	}
	return NULL;
}

/* Of hardware events config may name the type by which the PMU is looked for (5.13). */
static void find_pmu(struct evaluation *s)
{
	const struct machine *machine = s->machine;
	const struct environment *env = machine->env;
	bool is_hardware = machine_is_hardware(machine, s->type);
	uint32_t type = s->type;
	uint64_t can_extend;

	memset(&s->pmu, 0, sizeof(s->pmu));
	if (is_hardware && type != machine->type_raw) {
		learned_get(machine->learned, "kernel.has_extended_types", &can_extend);
		s->pmu.extended_type = can_extend ? (uint32_t)(s->config >> 32) : 0;
		type = s->pmu.extended_type ? s->pmu.extended_type : (uint32_t)machine->type_raw;
	}
	s->pmu.device = environment_pmu_of_type(env, type);
	/* Not everywhere the processor's PMU has the type of raw events. */
	if (!s->pmu.device && is_hardware && !s->pmu.extended_type)
		s->pmu.device = machine_processors_pmu(machine);
	s->pmu.kind = s->pmu.device ? kinds_find(machine->kinds, s->pmu.device->name)
				    : hidden_kind(machine, type);
	s->pmu.is_there = s->pmu.device || s->pmu.kind;
	/* A type that nobody has is offered to all; a processor's PMU may take hardware events.
	 * Where sysfs tells of no PMU, there may be others. */
	s->pmu.is_known = s->pmu.is_there ||
			  (env->pmu_count && (!is_hardware || !machine_has_other_pmus(machine)));
}

void evaluation_begin(struct evaluation *s, const struct machine *machine, const struct call *call,
		      const struct caller *caller, const struct objects *objects)
{
	memset(s->state, FACT_NEW, sizeof(s->state));
	s->machine = machine;
	s->call = call;
	s->caller = caller;
	s->objects = objects;
	s->event = NULL;
	s->path_was_sought = false;
	s->file = NULL;
	s->task_was_sought = s->task_is_known = false;
	read_attr(s);
	find_pmu(s);
	for (size_t i = 0; i < objects->event_count && call->group_fd != -1; i++)
		if (objects->events[i].fd == call->group_fd)
			s->event = &objects->events[i];
	for (size_t i = 0; i < objects->file_count; i++)
		if (objects->files[i].fd == call->pid)
			s->file = &objects->files[i];
}

int32_t evaluation_pid(const struct evaluation *s)
{
	int32_t pid = s->call->pid;

	return pid > 0 && s->objects->sees_processes && pid == (int32_t)gettid() ? 0 : pid;
}

bool evaluation_has_task(const struct evaluation *s)
{
	return s->call->pid != -1 && !(s->call->flags & s->machine->pid_cgroup);
}

const struct object_task *evaluation_task(struct evaluation *s)
{
	if (!s->task_was_sought) {
		s->task_was_sought = true;
		s->task_is_known = object_task(s->objects, s->caller, evaluation_pid(s), &s->task);
	}
	return s->task_is_known ? &s->task : NULL;
}
