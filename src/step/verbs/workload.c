/* SPDX-License-Identifier: MIT */
/*
 * The table of workloads. Each is readied, done and tidied up; only the doing is between the ioctls
 * of `counted`, and touches no memory of its own that was not touched before.
 */
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "call/call.h"
#include "step/step.h"
#include "step/runtime/workload.h"

struct work {
	const struct arguments *a;
	const uint64_t *head; /* of a ring buffer, or NULL */
	int err;              /* errno of what was done, as far as it says */
	/* How often the task left the cpu in what it did, and with the requests around that. */
	uint64_t least, most;
	struct pages pages;
	struct mapped mapped;
	int fd;
	bool has_at;
};

const struct word probeable_functions[] = {
	{"probed", PROBED}, {"stepped", STEPPED}, {"nested", NESTED}, {"jumping", JUMPING}, {0}};

int run_function(struct step *s)
{
	struct function f;

	if (find_function((enum probeable)s->arguments.number, &f))
		return step_failed(s, errno);
	step_show_number(s, "address", f.address);
	step_show_number(s, "offset", f.offset);
	step_show_address(s, "counter", f.counter);
	step_show_number(s, "counter_offset", f.counter_offset);
	step_show(s, "path", json_string(f.path));
	step_show(s, "build_id", json_string(f.build_id));
	return 0;
}

static void do_spin(struct work *w)
{
	const struct arguments *a = w->a;
	uint64_t spun = 0;

	for (volatile uint64_t i = 0; !a->ms && i < a->times; i++)
		;
	while (spun < a->ms * 1000000 && !(a->signals && signals_noted() >= a->signals) &&
	       !(w->head && __atomic_load_n(w->head, __ATOMIC_ACQUIRE) >= a->bytes))
		spun += spin_once();
}

static void do_sleep(struct work *w)
{
	sleep_for(w->a->ms);
}

static void do_store(struct work *w)
{
	store_words(w->a->at, w->a->size, w->a->times);
}

static void do_load(struct work *w)
{
	load_words(w->a->at, w->a->size, w->a->times);
}

static void do_call(struct work *w)
{
	if (w->has_at)
		call_code(w->a->at, w->a->times);
	else
		call_probed(w->a->times);
}

static int ready_nest(struct work *w)
{
	return ready_pages(&w->pages, 1);
}

static void do_nest(struct work *w)
{
	if (nest(w->a->times, (enum nest_end)w->a->kind, w->pages.at))
		w->err = errno;
}

static int ready_touch(struct work *w)
{
	return ready_pages(&w->pages, w->a->pages);
}

static int ready_file_fault(struct work *w)
{
	return ready_file_pages(&w->pages, w->a->pages);
}

static void do_touch(struct work *w)
{
	touch_each(&w->pages);
}

static void do_syscall(struct work *w)
{
	for (uint64_t i = 0; i < w->a->times; i++)
		syscall(SYS_getppid);
}

static void do_open(struct work *w)
{
	for (uint64_t i = 0; i < w->a->times; i++)
		close(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

static void do_yield(struct work *w)
{
	for (uint64_t i = 0; i < w->a->times; i++)
		sched_yield();
}

static void do_switch(struct work *w)
{
	w->least = leave_cpu(w->a->times);
}

static int ready_migrate(struct work *w)
{
	(void)w;
	return ready_to_migrate();
}

static void do_migrate(struct work *w)
{
	w->err = migrate(w->a->times) ? errno : 0;
}

enum { BY_PRCTL, BY_PROC };
static const struct word rename_ways[] = {{"prctl", BY_PRCTL}, {"proc", BY_PROC}, {0}};

static int ready_rename(struct work *w)
{
	if (w->a->kind == BY_PROC)
		w->fd = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC);
	return w->a->kind == BY_PROC && w->fd < 0 ? -1 : 0;
}

static void do_rename(struct work *w)
{
	if (w->a->kind == BY_PRCTL)
		prctl(PR_SET_NAME, w->a->text);
	else if (write(w->fd, w->a->text, strlen(w->a->text)) < 0)
		w->err = errno;
}

static const struct word map_kinds[] = {
	{"anonymous", OF_ANONYMOUS}, {"memfd", OF_MEMFD}, {"file", OF_FILE}, {0}};

static int ready_to_map(struct work *w)
{
	int err = ready_map(&w->mapped, (enum map_kind)w->a->kind, w->a->text, w->a->length);

	w->fd = w->mapped.fd;
	return err;
}

static void do_map(struct work *w)
{
	int flags = (w->a->is_private ? MAP_PRIVATE : MAP_SHARED) |
		    (w->a->is_locked ? MAP_LOCKED : 0) |
		    (w->a->is_huge ? MAP_HUGETLB | MAP_NORESERVE : 0);

	w->err = map_it(&w->mapped, w->a->prot, flags, w->a->offset) ? errno : 0;
}

static void do_unmap(struct work *w)
{
	w->err = munmap((void *)(uintptr_t)w->a->at, (size_t)w->a->length) ? errno : 0;
}

static void do_protect(struct work *w)
{
	if (mprotect((void *)(uintptr_t)w->a->at, (size_t)w->a->length, w->a->prot))
		w->err = errno;
}

static void do_grow_heap(struct work *w)
{
	w->err = grow_heap(w->a->length) ? errno : 0;
}

static void do_unshare(struct work *w)
{
	w->err = unshare((int)w->a->number) ? errno : 0;
}

/* What comes between the ioctls of `counted`, and before and behind them. */
struct workload {
	int (*ready)(struct work *); /* or NULL */
	void (*act)(struct work *);
	void (*show)(struct step *s, const struct work *w); /* or NULL */
};

/*
 * All requests are made before the first is used: nothing is looked up in between. REFRESH starts
 * an event alone, so members of its group are left as they are.
 */
static int act_counted(struct step *s, const struct workload *kind, struct work *w)
{
	const struct arguments *a = w->a;
	long whom = a->refresh ? 0 : 1, how = a->refresh ? (long)a->refresh : 1;
	int fd = a->counted, err = signals_rehearse();
	unsigned long on, disable;
	uint64_t before;

	if (err)
		return step_failed(s, -err);
	on = event_ioctl_number(s->tables->abi, a->refresh ? "refresh" : "enable");
	disable = event_ioctl_number(s->tables->abi, "disable");
	if (ioctl(fd, (ioctl_request)disable, whom))
		return step_failed(s, errno);
	before = switches().all;
	if (ioctl(fd, (ioctl_request)on, how))
		return step_failed(s, errno);
	kind->act(w);
	err = ioctl(fd, (ioctl_request)disable, whom) ? step_failed(s, errno) : 0;
	w->most = switches().all - before;
	return err;
}

static int run_workload(struct step *s)
{
	const struct workload *kind = s->statement->verb->workload;
	struct map *map = step_has(s, "filled") ? step_map(s, s->arguments.filled, true) : NULL;
	struct work w = {.a = &s->arguments, .fd = -1, .has_at = step_has(s, "at")};
	int err = 0;

	if (step_has(s, "filled") && (!map || map->event == NO_EVENT))
		return step_misnamed(s, "filled", "an event that is mapped");
	if (map)
		w.head = buffer_head(s->run, map);
	if (kind->ready && kind->ready(&w))
		return step_failed(s, errno);
	if (step_has(s, "counted"))
		err = act_counted(s, kind, &w);
	else
		kind->act(&w);
	if (!err && w.err)
		err = step_failed(s, w.err);
	if (!err && kind->show)
		kind->show(s, &w);
	if (w.pages.at)
		munmap(w.pages.at, w.pages.count * w.pages.size);
	if (w.fd > 0)
		close(w.fd);
	return err;
}

static void show_switch(struct step *s, const struct work *w)
{
	step_show_number(s, "least", w->least);
	step_show_number(s, "most", w->most);
}

static void show_map(struct step *s, const struct work *w)
{
	const struct mapped *m = &w->mapped;

	step_show_address(s, "address", m->address);
	step_show_number(s, "length", m->length);
	step_show_number(s, "maj", m->maj);
	step_show_number(s, "min", m->min);
	step_show_number(s, "ino", m->ino);
}

static int check_refresh(struct compiling *c, const struct statement *statement)
{
	return statement_json(statement, "refresh") && !statement_json(statement, "counted")
		       ? error_name(c->error, AT_KEY(c->where, "refresh"), "refresh", NULL,
				    "`counted` beside it")
		       : 0;
}

static const struct word spaces[] = {{"uts", CLONE_NEWUTS},
				     {"ipc", CLONE_NEWIPC},
				     {"net", CLONE_NEWNET},
				     {"mnt", CLONE_NEWNS},
				     {"cgroup", CLONE_NEWCGROUP},
				     {"user", CLONE_NEWUSER},
				     {"pid", CLONE_NEWPID},
				     {"time", 0x80},
				     {0}};

/* What a row of a workload begins with, and the arguments that it takes. */
#define WORKLOAD(...)                                                                              \
	.key = "workload", .check = check_refresh, .is_behind_exec = true,                         \
	.workload = &(const struct workload)                                                       \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define WORK PREPARES, BINDS_SHOWN, run_workload
#define WHAT .key = "workload", .type = &argument_kind
#define COUNTED                                                                                    \
	{"counted", &argument_bound, MEMBER(counted),                                              \
	 .help = "an event to enable right before and disable right after, with its group"},       \
	{                                                                                          \
		"refresh", &argument_number, MEMBER(refresh),                                      \
			.most = 1000,                                                              \
			.help = "enable only that event, with REFRESH, for this many overflows"    \
	}
#define TIMES                                                                                      \
	"times", &argument_number, MEMBER(times), .fallback = 1, .most = 10000000, .help = "(1)"
#define MS "ms", &argument_number, MEMBER(ms), .most = 2000, .help = "milliseconds (0)"
#define ADDRESS                                                                                    \
	"at", &argument_number, MEMBER(at), .is_long = true, .help = "the address",                \
					    .is_required = true
#define SIZE                                                                                       \
	"size", &argument_word_size, MEMBER(size), .fallback = 8, .help = "1, 2, 4 or 8 bytes (8)"
#define PAGES                                                                                      \
	"pages", &argument_number, MEMBER(pages), .fallback = 1, .most = 4096,                     \
						  .help = "the number of pages (1)"
#define LENGTH                                                                                     \
	"length", &argument_number, MEMBER(length), .fallback = 4096, .most = 1 << 24,             \
						    .help = "in bytes (4096)"
#define PROT                                                                                       \
	"prot", &argument_words, MEMBER(prot), .words = memory_prots, .fallback = PROT_READ,       \
					       .help = "([\"read\"])"

/* Of a word that one instruction stores or loads: uint64_t. */
static int parse_word_size(struct compiling *c, struct operand *operand)
{
	json_int_t size = json_integer_value(operand->json);

	operand->number = (uint64_t)size;
	return size == 1 || size == 2 || size == 4 || size == 8
		       ? 0
		       : error_value(c->error, c->where, operand->json, "1, 2, 4 or 8");
}

static const struct argument_type argument_word_size = {.parse = parse_word_size,
							.schema = "{\"enum\": [1, 2, 4, 8]}"};

static const struct word nest_ends_by[] = {{"return", NEST_RETURN}, {"fork", NEST_FORK},
					   {"jump", NEST_JUMP},     {"exit", NEST_EXIT},
					   {"fault", NEST_FAULT},   {0}};

/* The workload's own name, which has led to its row. */
static const struct argument_type argument_kind = {0};

const struct verb workload_verbs[] = {
	{"spin", "use cpu time, or run a loop", WORK,
	 "@{ms?for (uint64_t spun = 0; :for (volatile uint64_t i = 0; i < @times; "
	 "i++)\n\t;}@{signals?count_signals() < @signals && }@{filled?head_of(@*filled) < "
	 "@bytes && }@{ms?spun < UINT64_C(1000000) * @ms;)\n\tspun += spin_once();}",
	 WORKLOAD(NULL, do_spin, NULL),
	 ARGUMENTS({WHAT},
		   {"ms", &argument_number, MEMBER(ms), .most = 2000,
		    .help = "milliseconds of cpu time; `signals` or `filled` can end it before"},
		   {"signals", &argument_number, MEMBER(signals), .most = 10000,
		    .help = "until this many signals were noted"},
		   {"filled", &argument_bound, MEMBER(filled),
		    .help = "until the buffer of that event has had `bytes` bytes"},
		   {"bytes", &argument_number, MEMBER(bytes), .fallback = 1, .help = "(1)"},
		   {"times", &argument_number, MEMBER(times), .fallback = 1, .most = 10000000,
		    .help = "iterations, without `ms` (1)"},
		   COUNTED)},
	{"sleep", "nanosleep(2)", WORK, "sleep_for(@ms);", WORKLOAD(NULL, do_sleep, NULL),
	 ARGUMENTS({WHAT}, {MS}, COUNTED)},
	{"store", "store to an address", WORK, "store_words(@at, @size, @times);",
	 WORKLOAD(NULL, do_store, NULL), ARGUMENTS({WHAT}, {ADDRESS}, {SIZE}, {TIMES}, COUNTED)},
	{"load", "load from an address", WORK, "load_words(@at, @size, @times);",
	 WORKLOAD(NULL, do_load, NULL), ARGUMENTS({WHAT}, {ADDRESS}, {SIZE}, {TIMES}, COUNTED)},
	{"call", "call the functions \"probed\", and \"stepped\" through \"jumping\"", WORK,
	 "@{at?call_code(@at, @times);:call_probed(@times);}", WORKLOAD(NULL, do_call, NULL),
	 ARGUMENTS({WHAT},
		   {"at", &argument_number, MEMBER(at), .is_long = true,
		    .help = "the machine code at this address, instead: a function without "
			    "arguments"},
		   {TIMES}, COUNTED)},
	{"nest", "call the function \"nested\", which calls itself, and comes back from all calls",
	 WORK, "needed(nest(@depth, NEST_@end, @=.at));", WORKLOAD(ready_nest, do_nest, NULL),
	 .c_ready = "needed(ready_pages(&@=, 1));", .c_value = "struct pages",
	 ARGUMENTS(
		 {WHAT},
		 {"depth", &argument_number, MEMBER(times), .fallback = 1, .most = 1000,
		  .help = "calls (1)"},
		 {"end", &argument_word, MEMBER(kind), .words = nest_ends_by,
		  .help = "what the innermost does (return): come back; fork a child, which comes "
			  "back, too; longjmp(3) out of all; exit; or write to a new page"},
		 COUNTED)},
	{"touch", "write the first byte of each of some new pages", WORK, "touch_each(&@=);",
	 WORKLOAD(ready_touch, do_touch, NULL), .c_ready = "needed(ready_pages(&@=, @pages));",
	 .c_value = "struct pages", ARGUMENTS({WHAT}, {PAGES}, COUNTED)},
	{"file-fault", "the same in pages of a file in memory", WORK, "touch_each(&@=);",
	 WORKLOAD(ready_file_fault, do_touch, NULL),
	 .c_ready = "needed(ready_file_pages(&@=, @pages));", .c_value = "struct pages",
	 ARGUMENTS({WHAT}, {PAGES}, COUNTED)},
	{"syscall", "getppid(2)", WORK,
	 "for (uint64_t i = 0; i < @times; i++)\n\tsyscall(SYS_getppid);",
	 WORKLOAD(NULL, do_syscall, NULL), ARGUMENTS({WHAT}, {TIMES}, COUNTED)},
	{"open", "openat(2) and close(2) of /dev/null", WORK,
	 "for (uint64_t i = 0; i < @times; i++)\n\tclose(open(\"/dev/null\", O_RDONLY | "
	 "O_CLOEXEC));",
	 WORKLOAD(NULL, do_open, NULL), ARGUMENTS({WHAT}, {TIMES}, COUNTED)},
	{"yield", "sched_yield(2)", WORK, "for (uint64_t i = 0; i < @times; i++)\n\tsched_yield();",
	 WORKLOAD(NULL, do_yield, NULL), ARGUMENTS({WHAT}, {TIMES}, COUNTED)},
	{"switch",
	 "leave the cpu by sleeping; binds least, the number of context switches meanwhile, and "
	 "most, which includes the ioctls of `counted`, as they may sleep, too",
	 WORK, "@=.least = leave_cpu(@times);", WORKLOAD(NULL, do_switch, show_switch),
	 .c_ready = "@=.most = switches().all;", .c_tidy = "@=.most = switches().all - @=.most;",
	 .c_value = "struct left: least most", ARGUMENTS({WHAT}, {TIMES}, COUNTED)},
	{"migrate", "move back and forth between the first two cpus that the process may use", WORK,
	 "needed(migrate(@times));", WORKLOAD(ready_migrate, do_migrate, NULL),
	 .c_ready = "needed(ready_to_migrate());", ARGUMENTS({WHAT}, {TIMES}, COUNTED)},
	{"rename", "rename this thread", WORK,
	 "@{what?needed(write(@=, @name, strlen(@name)));:prctl(PR_SET_NAME, @name);}",
	 WORKLOAD(ready_rename, do_rename, NULL),
	 .c_ready = "@{what?@= = open(\"/proc/thread-self/comm\", O_WRONLY | O_CLOEXEC);}",
	 .c_value = "int",
	 ARGUMENTS({WHAT},
		   {"name", &argument_text, MEMBER(text), .most = 159, .help = "the new name"},
		   {"what", &argument_word, MEMBER(kind), .words = rename_ways, .help = "(prctl)"},
		   COUNTED)},
	{"map", "mmap(2); binds address, length, and for a file maj, min and ino", WORK,
	 "needed(map_it(&@=, PROT_@prot, @{private?MAP_PRIVATE:MAP_SHARED}"
	 "@{locked? | MAP_LOCKED:}@{huge? | MAP_HUGETLB | MAP_NORESERVE:}, @offset));",
	 WORKLOAD(ready_to_map, do_map, show_map),
	 .c_ready = "needed(ready_map(&@=, OF_@what, @name, @length));",
	 .c_value = "struct mapped: address length maj min ino",
	 ARGUMENTS(
		 {WHAT}, {LENGTH}, {PROT},
		 {"private", &argument_truth, MEMBER(is_private), .fallback = 1,
		  .help = "use MAP_PRIVATE instead of MAP_SHARED (true)"},
		 {"locked", &argument_truth, MEMBER(is_locked), .help = "add MAP_LOCKED"},
		 {"huge", &argument_truth, MEMBER(is_huge),
		  .help = "add MAP_HUGETLB, of anonymous memory, and MAP_NORESERVE, so that no "
			  "page need be there; the kernel rounds the length up"},
		 {"name", &argument_text, MEMBER(text), .most = 159,
		  .help = "the memfd's name, or the file's path"},
		 {"what", &argument_word, MEMBER(kind), .words = map_kinds, .help = "(anonymous)"},
		 {"offset", &argument_number, MEMBER(offset), .most = 1 << 24,
		  .help = "where in the file it begins (0)"},
		 COUNTED)},
	{"unmap", "munmap(2)", WORK, "needed(munmap((void *)(uintptr_t)(@at), @length));",
	 WORKLOAD(NULL, do_unmap, NULL), ARGUMENTS({WHAT}, {ADDRESS}, {LENGTH}, COUNTED)},
	{"protect", "mprotect(2)", WORK,
	 "needed(mprotect((void *)(uintptr_t)(@at), @length, PROT_@prot));",
	 WORKLOAD(NULL, do_protect, NULL), ARGUMENTS({WHAT}, {ADDRESS}, {LENGTH}, {PROT}, COUNTED)},
	{"grow-heap", "grow the heap with brk(2)", WORK, "needed(grow_heap(@length));",
	 WORKLOAD(NULL, do_grow_heap, NULL), ARGUMENTS({WHAT}, {LENGTH}, COUNTED)},
	{"unshare", "unshare(2)", WORK, "needed(unshare(CLONE_NEW@op));",
	 WORKLOAD(NULL, do_unshare, NULL),
	 ARGUMENTS(
		 {WHAT},
		 {"op", &argument_words, MEMBER(number), .words = spaces, .help = "the namespaces"},
		 COUNTED)},
	{0}};
