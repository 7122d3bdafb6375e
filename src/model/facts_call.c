/* SPDX-License-Identifier: MIT */
/*
 * The other arguments of the call, and what they name: task, cpu, cgroup.
 */
#include "abi/attr.h"
#include "machine/proc.h"
#include "model/fact.h"

/* The clock that times come from: clockid, where use_clockid says so. */
static bool call_clock(struct evaluation *s, uint64_t *value)
{
	*value = attr_get(s->machine->use_clockid, s->attr, host_order())
			 ? attr_get(s->machine->clockid, s->attr, host_order())
			 : UINT64_MAX;
	return true;
}

static bool call_target(struct evaluation *s, uint64_t *value)
{
	*value = evaluation_has_task(s) ? (uint64_t)(int64_t)evaluation_pid(s) : UINT64_MAX;
	return true;
}

static bool call_is_possible(struct evaluation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	*value = s->call->cpu >= 0 && (unsigned)s->call->cpu < env->cpu_limit;
	return env->cpu_limit != 0;
}

static bool call_is_online(struct evaluation *s, uint64_t *value)
{
	const struct environment *env = s->machine->env;

	*value = s->call->cpu >= 0 && cpu_list_has(env->online, (unsigned)s->call->cpu);
	return cpu_list_is_known(env->online);
}

static bool call_is_open(struct evaluation *s, uint64_t *value)
{
	*value = s->file != NULL;
	return true;
}

static const void *call_of(struct evaluation *s)
{
	return s->call;
}

static const void *task_of(struct evaluation *s)
{
	return evaluation_task(s);
}

static const void *cgroup_of(struct evaluation *s)
{
	static const struct object_file none;

	return s->file ? s->file : &none;
}

#define CALL(name) .of = call_of, .datum = DATUM(struct call, name, ALWAYS_KNOWN)
#define TASK(name) .of = task_of, .datum = DATUM(struct object_task, name, ALWAYS_KNOWN)
#define CGROUP(name) .of = cgroup_of, .datum = DATUM(struct object_file, name, ALWAYS_KNOWN)

static const char elsewhere[] =
	"whether there is such a process, and who may observe it, is not known here";
static const char cpus[] = "which cpus the machine has is not recorded";

const struct fact call_facts[] = {
	{"call.flags", "the argument flags", NULL, CALL(flags), .is_mask = true,
	 .family = "open_flags"},
	{"call.pid", "the argument pid", NULL, CALL(pid), .is_signed = true},
	{"call.cpu", "the argument cpu", NULL, CALL(cpu), .is_signed = true},
	{"call.group_fd", "the argument group_fd", NULL, CALL(group_fd), .is_signed = true},
	{"call.clock", "the clock of the event's timestamps; -1: the default", NULL,
	 .get = call_clock, .is_signed = true},
	{"target.id", "the task's id; 0: the caller's own; -1: the event counts no task", NULL,
	 .get = call_target, .is_signed = true},
	{"target.exists", "1: there is such a process or thread", elsewhere, TASK(exists)},
	{"target.is_exiting", "1: it has exited and is not yet reaped", elsewhere,
	 TASK(is_exiting)},
	{"target.may_be_read", "1: the caller may look into it (ptrace(2), READ_REALCREDS)",
	 elsewhere, TASK(may_be_read)},
	{"target.may_be_attached", "1: the caller may trace it (ptrace(2), ATTACH_REALCREDS)",
	 elsewhere, TASK(may_be_attached)},
	{"target.is_own", "1: its uids are the caller's", elsewhere, TASK(is_own)},
	{"cpu.is_possible", "1: the machine can have such a cpu", cpus, .get = call_is_possible},
	{"cpu.is_online", "1: the cpu is online", cpus, .get = call_is_online},
	{"cgroup.is_open", "1: pid is an open file", NULL, .get = call_is_open},
	{"cgroup.is_cgroup", "1: it is a cgroup's directory", NULL, CGROUP(is_cgroup)},
	{"cgroup.has_perf_event", "1: its hierarchy has the perf_event controller", NULL,
	 CGROUP(has_perf_event)},
	{"cgroup.id", "a number that identifies the cgroup; 0: none", NULL, CGROUP(cgroup),
	 .is_signed = true},
	{.name = NULL}};

/*
 * The event that group_fd is: a leader to join, or whose buffer to write to.
 */

/* Of an event that somebody else has opened nothing is known but that it is one. */
static bool is_known(const struct evaluation *s)
{
	return !s->event || !s->event->is_unknown;
}

static bool group_is_event(struct evaluation *s, uint64_t *value)
{
	*value = s->event != NULL;
	return true;
}

static const void *event_named(struct evaluation *s)
{
	static const struct object_event none;

	return !is_known(s) ? NULL : s->event ? s->event : &none;
}

/* Software leaders have none; others are the PMU's affair. */
static bool group_is_aux(struct evaluation *s, uint64_t *value)
{
	*value = 0;
	return is_known(s) && (!s->event || !s->event->is_hardware);
}

uint64_t size_of_read(const struct abi *abi, uint64_t bits, unsigned siblings)
{
	const struct abi_family *format = abi_family(abi, "read_format");
	uint64_t entry = 8, size = 0, count = 1;

	for (size_t i = 0; i < format->count; i++) {
		const struct abi_value *bit = &format->values[i];

		if (!(bits & bit->value))
			continue;
		if (!__builtin_strcmp(bit->name, "group")) {
			count += siblings;
			size += 8;
		} else if (!__builtin_strncmp(bit->name, "total_time", 10)) {
			size += 8;
		} else {
			entry += 8;
		}
	}
	return size + count * entry;
}

static bool group_read_size(struct evaluation *s, uint64_t *value)
{
	const struct abi *abi = s->machine->env->abi;
	unsigned siblings = s->event ? s->event->siblings + 1 : 1;
	uint64_t leaders = s->event ? size_of_read(abi, s->event->read_format, siblings) : 0;

	*value = size_of_read(abi, attr_get(s->machine->read_format, s->attr, host_order()),
			      siblings);
	if (leaders > *value)
		*value = leaders;
	return is_known(s);
}

static const char others[] = "group_fd is an event that was opened before, and how is not known";

#define OF(name_, text)                                                                            \
	.name = "group." #name_, .about = text, .unknown = others, .of = event_named,              \
	.datum = DATUM(struct object_event, name_, ALWAYS_KNOWN)

const struct fact group_facts[] = {
	{"group.is_event", "1: group_fd is an event", NULL, .get = group_is_event},
	{OF(has_exited, "1: its task is gone")},
	{OF(inherit, "its inherit")},
	{OF(is_sibling, "1: it is in a group and does not lead it")},
	{OF(clock, "its clock, as call.clock"), .is_signed = true},
	{OF(cpu, "its cpu"), .is_signed = true},
	{OF(target, "its task, as target.id"), .is_signed = true},
	{OF(cgroup, "its cgroup, as cgroup.id"), .is_signed = true},
	{OF(write_backward, "its write_backward")},
	{OF(has_buffer, "1: it has been mapped")},
	{"group.is_aux", "1: it has an AUX buffer",
	 "what the leader's PMU can do only the kernel knows", .get = group_is_aux},
	{"group.read_size", "bytes of the largest read of the group with this event", others,
	 .get = group_read_size},
	{.name = NULL}};

/*
 * The text that config1 points to, for a uprobe or kprobe: what it is, and the file that it names.
 */

/* A text at config1 that is known without being read; NULL: there is none. */
static const struct object_text *known_text(const struct evaluation *s)
{
	for (size_t i = 0; i < s->objects->text_count; i++)
		if (s->objects->texts[i].address == s->config1)
			return &s->objects->texts[i];
	return NULL;
}

/*
 * The one at config1, with its file unless `text_alone`; NULL where that cannot be known. Whatever
 * points nowhere cannot be read.
 */
static const struct text_at *find_text(struct evaluation *s, bool text_alone)
{
	const struct object_text *known = s->objects->sees_memory ? NULL : known_text(s);

	if (!s->objects->sees_memory && (!known || !text_alone))
		return NULL;
	if (!s->path_was_sought && known)
		s->path = (struct text_at){.is_readable = true, .length = known->length};
	else if (!s->path_was_sought)
		text_read_at(s->config1, &s->path);
	s->path_was_sought = true;
	return &s->path;
}

static const void *text_there(struct evaluation *s)
{
	return find_text(s, true);
}

static const void *file_named(struct evaluation *s)
{
	return find_text(s, false);
}

/* Of a file that others can open it is not known who has. */
static bool path_is_mapped(struct evaluation *s, uint64_t *value)
{
	const struct text_at *path = find_text(s, false);

	*value = 0;
	return path && path->is_nameless;
}

static const char memory[] =
	"config1 is an address in the caller's memory, and what is there is not known";

#define PATH(member_, of_) .of = of_, .datum = DATUM(struct text_at, member_, ALWAYS_KNOWN)

const struct fact path_facts[] = {
	{"path.is_readable", "1: the text at config1 can be read", memory,
	 PATH(is_readable, text_there)},
	{"path.length", "its length in bytes", memory, PATH(length, text_there)},
	{"path.errno", "the errno of looking the file up, or 0", memory, .print = fact_print_errno,
	 PATH(err, file_named)},
	{"path.is_regular", "1: it is a regular file", memory, PATH(is_regular, file_named)},
	{"path.has_pages", "1: it has pages that a probe can be put in", memory,
	 PATH(has_pages, file_named)},
	{"path.size", "the file's size in bytes", memory, PATH(size, file_named)},
	{"path.is_mapped", "1: a process has it mapped",
	 "which processes have the file mapped is not known", .get = path_is_mapped},
	{.name = NULL}};

/*
 * What is to be watched by a breakpoint: bp_type, bp_addr and bp_len.
 */

static bool is_power_of_2(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* The kernel's unsigned long. */
static uint64_t as_long(const struct evaluation *s, uint64_t n)
{
	return s->machine->env->kernel_bits == 32 ? (uint32_t)n : n;
}

/* On data there is a bit for reads or writes in bp_type; else it is on code (find_slot_idx). */
static bool is_on_data(const struct evaluation *s)
{
	return attr_get(s->machine->bp_type, s->attr, host_order()) & 3;
}

static bool breakpoint_slots(struct evaluation *s, uint64_t *value)
{
	return learned_get(s->machine->learned,
			   is_on_data(s) ? "kernel.data_breakpoints" : "kernel.code_breakpoints",
			   value);
}

/* As far as the caller has taken them. */
static bool breakpoint_free(struct evaluation *s, uint64_t *value)
{
	bool known = breakpoint_slots(s, value);

	*value -= *value < s->objects->breakpoints ? *value : s->objects->breakpoints;
	return known;
}

static bool breakpoint_wraps(struct evaluation *s, uint64_t *value)
{
	uint64_t first = as_long(s, s->config1);

	*value = as_long(s, first + s->config2 - 1) < first;
	return true;
}

/* A breakpoint on code is one byte for the kernel; bytes beyond 8 are a mask of its own. */
static bool breakpoint_is_kernel(struct evaluation *s, uint64_t *value)
{
	uint64_t first = as_long(s, s->config1), n = s->config2, end;
	bool known = learned_get(s->machine->learned, "kernel.user_end", &end);

	n = !is_on_data(s) || !n || n > 8 ? 1 : n;
	*value = first >= end || first + n - 1 >= end;
	return known;
}

static bool breakpoint_end(struct evaluation *s, uint64_t *value)
{
	*value = as_long(s, s->config1 + s->config2 - 1);
	return true;
}

static bool breakpoint_never_known(struct evaluation *s, uint64_t *value)
{
	(void)s;
	(void)value;
	return false;
}

static bool breakpoint_len_is_plain(struct evaluation *s, uint64_t *value)
{
	*value = is_power_of_2(s->config2) && s->config2 <= s->machine->env->kernel_bits / 8;
	return true;
}

static bool breakpoint_len_is_power(struct evaluation *s, uint64_t *value)
{
	*value = is_power_of_2(s->config2);
	return true;
}

static bool breakpoint_is_aligned(struct evaluation *s, uint64_t *value)
{
	*value = !s->config2 || !(s->config1 & (s->config2 - 1));
	return true;
}

/* How far it reaches into the 8 aligned bytes in which it begins. */
static bool breakpoint_word_end(struct evaluation *s, uint64_t *value)
{
	*value = (s->config1 & 7) + s->config2;
	return true;
}

static const char uncounted[] = "how many breakpoints the processor has is not known";

const struct fact breakpoint_facts[] = {
	{"breakpoint.slots", "the number of its kind that the processor has", uncounted,
	 .get = breakpoint_slots},
	{"breakpoint.free", "the number of them that the caller has left", uncounted,
	 .get = breakpoint_free},
	{"breakpoint.wraps", "1: it reaches beyond the last address", NULL,
	 .get = breakpoint_wraps},
	{"breakpoint.is_kernel", "1: it is on the kernel's addresses",
	 "where the kernel's addresses begin is not known", .get = breakpoint_is_kernel},
	{"breakpoint.end", "its last byte", NULL, .get = breakpoint_end, .is_mask = true},
	{"breakpoint.is_in_entry", "1: it is in the kernel's entry code or data",
	 "where the kernel is entered only the kernel knows", .get = breakpoint_never_known},
	{"breakpoint.len_is_plain", "1: bp_len is 1, 2, 4 or 8, and not more than a long", NULL,
	 .get = breakpoint_len_is_plain},
	{"breakpoint.len_is_power", "1: bp_len is a power of two", NULL,
	 .get = breakpoint_len_is_power},
	{"breakpoint.is_aligned", "1: bp_addr is a multiple of bp_len, a power of two", NULL,
	 .get = breakpoint_is_aligned},
	{"breakpoint.word_end",
	 "the byte after it, counted from the aligned 8 bytes in which it begins", NULL,
	 .get = breakpoint_word_end},
	{.name = NULL}};
