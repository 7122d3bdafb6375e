/* SPDX-License-Identifier: MIT */
/*
 * The table of workloads. Each is readied, done and tidied up; only the doing is between the ioctls
 * of `counted`, and touches no memory of its own that was not touched before.
 */
#include "step/verbs/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "call/call.h"
#include "step/buffer.h"
#include "step/step.h"
#include "step/types.h"
#include "step/verbs/in_c.h"
#include "step/verbs/signals.h"
#include "step/verbs/verbs.h"

/* The arguments of all workloads, of which each has some. */
struct workload_step {
	uint64_t times, ms, at, size, pages, length, signals, bytes, refresh;
	uint64_t filled, counted, prot, kind, spaces;
	bool is_private, has_filled, is_counted;
	char text[160]; /* name or path */
};

struct work {
	uint64_t times, ms, at, size, pages, length, signals, bytes;
	const uint64_t *head; /* of a ring buffer, or NULL */
	unsigned prot;
	bool is_private;
	const char *text;
	int kind;       /* of what */
	unsigned flags; /* of unshare */
	int err;        /* errno of what was done, as far as it says */
	/* How often the task left the cpu in what it did, and with the requests around that. */
	uint64_t least, most;

	struct stat file;      /* of what was mapped */
	unsigned char *memory; /* to be touched, or mapped */
	size_t memory_size;
	int fd;
	cpu_set_t cpus[2];
};

/*
 * On 32-bit arm what is probed, and who calls it, is ARM code: the kernel probes no Thumb
 * (arch_uprobe_analyze_insn()), and returns from what it probes to no Thumb
 * (arch_uretprobe_hijack_return_addr()).
 */
#if defined(__arm__)
#define PROBEABLE __attribute__((target("arm")))
#else
#define PROBEABLE
#endif

/* A uprobe is put on its first instruction, so it must be there, and called, as written. */
PROBEABLE __attribute__((noinline, used)) void workload_probed(void)
{
	__asm__ volatile("nop\n\tnop\n\tnop\n\tnop" ::: "memory");
}

int workload_probed_place(char *path, size_t size, uint64_t *offset)
{
	uintptr_t address = (uintptr_t)workload_probed;
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to, at;
	char line[512], file[256];
	int err = -ENOENT;

	while (maps && err && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &from, &to, &at, file) != 4 ||
		    address < from || address >= to)
			continue;
		*offset = address - from + at;
		snprintf(path, size, "%s", file);
		err = 0;
	}
	if (maps)
		fclose(maps);
	return err;
}

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* How often this thread has left the cpu: of its own accord, and in all. */
struct switches {
	uint64_t voluntary, all;
};

static struct switches switches(void)
{
	struct rusage usage = {0};

	getrusage(RUSAGE_THREAD, &usage);
	return (struct switches){(uint64_t)usage.ru_nvcsw,
				 (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw};
}

static bool has_come(const struct work *w)
{
	return (w->signals && signals_noted() >= w->signals) ||
	       (w->head && __atomic_load_n(w->head, __ATOMIC_ACQUIRE) >= w->bytes);
}

/*
 * The cpu time of one short loop; 0 if the task left the cpu meanwhile. A task that comes to a cpu
 * is charged from the scheduler's last look at its clock, which can be milliseconds ago on a
 * virtual machine (rq_clock_skip_update()): that is time in which no event of the task was on.
 * The loop is long beside the calls around it: a timer whose period is so many of both, to the
 * instruction on an emulated machine, would else find the kernel each time.
 */
static uint64_t spin_once(void)
{
	const uint64_t left = switches().all, begun = cpu_time();
	uint64_t ended;

	for (volatile int i = 0; i < 10000; i++)
		;
	ended = cpu_time();
	return switches().all == left ? ended - begun : 0;
}

static void do_spin(struct work *w)
{
	uint64_t spun = 0;

	if (!w->ms) {
		for (volatile uint64_t i = 0; i < w->times; i++)
			;
		return;
	}
	while (!has_come(w) && spun < w->ms * 1000000)
		spun += spin_once();
}

/* Eight bytes by one instruction, which a 32-bit processor has for numbers with a point alone. */
static void store_eight(uintptr_t at, uint64_t value)
{
	if (sizeof(long) == 8)
		*(volatile uint64_t *)at = value;
	else
		*(volatile double *)at = (double)value;
}

static void load_eight(uintptr_t at)
{
	if (sizeof(long) == 8)
		(void)*(volatile uint64_t *)at;
	else
		(void)*(volatile double *)at;
}

static void do_store(struct work *w)
{
	for (uint64_t i = 0; i < w->times; i++) {
		if (w->size == 1)
			*(volatile uint8_t *)(uintptr_t)w->at = (uint8_t)i;
		else if (w->size == 2)
			*(volatile uint16_t *)(uintptr_t)w->at = (uint16_t)i;
		else if (w->size == 4)
			*(volatile uint32_t *)(uintptr_t)w->at = (uint32_t)i;
		else
			store_eight((uintptr_t)w->at, i);
	}
}

static void do_load(struct work *w)
{
	for (uint64_t i = 0; i < w->times; i++) {
		if (w->size == 1)
			(void)*(volatile uint8_t *)(uintptr_t)w->at;
		else if (w->size == 2)
			(void)*(volatile uint16_t *)(uintptr_t)w->at;
		else if (w->size == 4)
			(void)*(volatile uint32_t *)(uintptr_t)w->at;
		else
			load_eight((uintptr_t)w->at);
	}
}

PROBEABLE static void do_call(struct work *w)
{
	for (uint64_t i = 0; i < w->times; i++)
		workload_probed();
}

/*
 * Where the scheduler's clock moves in steps of milliseconds, no time would have passed for the
 * event: its times go by the same clock.
 */
static void await_clock(uint64_t begun)
{
	for (int i = 0; i < 1000000 && cpu_time() == begun; i++)
		;
}

/* Fresh pages, small ones: a huge one would be one fault. */
static int ready_touch(struct work *w)
{
	await_clock(0); /* itself is no fault then */
	w->memory_size = (size_t)w->pages * (size_t)sysconf(_SC_PAGESIZE);
	w->memory = mmap(NULL, w->memory_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (w->memory == MAP_FAILED)
		return -errno;
	madvise(w->memory, w->memory_size, MADV_NOHUGEPAGE);
	return 0;
}

static void do_touch(struct work *w)
{
	const uint64_t begun = cpu_time();
	size_t page = w->memory_size / (w->pages ? (size_t)w->pages : 1);

	for (size_t i = 0; i < w->pages; i++)
		*(volatile unsigned char *)(w->memory + i * page) = 1;
	await_clock(begun);
}

static void tidy_memory(struct work *w)
{
	munmap(w->memory, w->memory_size);
}

/* Pages of a file that are in the page cache, each mapped when it is read. */
static int ready_file_fault(struct work *w)
{
	int fd = (int)syscall(SYS_memfd_create, "perfabi-pages", 1U /* MFD_CLOEXEC */);

	await_clock(0);
	w->memory_size = (size_t)w->pages * (size_t)sysconf(_SC_PAGESIZE);
	if (fd < 0 || ftruncate(fd, (off_t)w->memory_size))
		return -errno;
	w->memory = mmap(NULL, w->memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (w->memory == MAP_FAILED)
		return -errno;
	madvise(w->memory, w->memory_size, MADV_RANDOM);
	return 0;
}

static void do_syscall(struct work *w)
{
	for (uint64_t i = 0; i < w->times; i++)
		syscall(SYS_getppid);
}

static void do_yield(struct work *w)
{
	for (uint64_t i = 0; i < w->times; i++)
		sched_yield();
}

/*
 * Sleeping leaves the cpu once a time, unless the task is preempted on the way there for so long
 * that the timer fires first: such a sleep does not count.
 */
static void do_switch(struct work *w)
{
	const struct switches before = switches();
	const uint64_t goal = before.voluntary + w->times;
	struct timespec t = {.tv_nsec = 1000000};

	for (uint64_t i = 0; i < 100 * w->times && switches().voluntary < goal; i++)
		nanosleep(&t, NULL);
	w->least = switches().all - before.all;
}

static void do_sleep(struct work *w)
{
	struct timespec t = {.tv_sec = (time_t)(w->ms / 1000),
			     .tv_nsec = (long)(w->ms % 1000 * 1000000)};

	nanosleep(&t, NULL);
}

/* From cpu 0 on, to and fro between two of those that this process may use. */
static int ready_migrate(struct work *w)
{
	cpu_set_t all;
	size_t found = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return -errno;
	for (size_t cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&w->cpus[found]);
		CPU_SET(cpu, &w->cpus[found++]);
	}
	if (found < 2)
		return -ENODEV;
	return sched_setaffinity(0, sizeof(w->cpus[0]), &w->cpus[0]) ? -errno : 0;
}

static void do_migrate(struct work *w)
{
	for (uint64_t i = 0; i < w->times; i++)
		if (sched_setaffinity(0, sizeof(w->cpus[0]), &w->cpus[(i + 1) & 1]))
			w->err = errno;
}

enum { BY_PRCTL, BY_PROC };
static const struct word rename_ways[] = {{"prctl", BY_PRCTL}, {"proc", BY_PROC}, {0}};

static int ready_rename(struct work *w)
{
	char path[64];

	if (w->kind == BY_PRCTL)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)gettid());
	w->fd = open(path, O_WRONLY | O_CLOEXEC);
	return w->fd < 0 ? -errno : 0;
}

static void do_rename(struct work *w)
{
	if (w->kind == BY_PRCTL)
		prctl(PR_SET_NAME, w->text);
	else if (write(w->fd, w->text, strlen(w->text)) < 0)
		w->err = errno;
}

enum { ANONYMOUS, MEMFD, A_FILE };
static const struct word map_kinds[] = {
	{"anonymous", ANONYMOUS}, {"memfd", MEMFD}, {"file", A_FILE}, {0}};

static int ready_map(struct work *w)
{
	w->fd = -1;
	if (w->kind == MEMFD)
		w->fd = (int)syscall(SYS_memfd_create, w->text, 1U);
	else if (w->kind == A_FILE)
		w->fd = open(w->text, O_RDONLY | O_CLOEXEC);
	if (w->kind != ANONYMOUS && w->fd < 0)
		return -errno;
	if (w->kind == MEMFD && ftruncate(w->fd, (off_t)w->length))
		return -errno;
	return w->kind != ANONYMOUS && fstat(w->fd, &w->file) ? -errno : 0;
}

static void do_map(struct work *w)
{
	int flags = w->is_private ? MAP_PRIVATE : MAP_SHARED;

	w->memory = mmap(NULL, (size_t)w->length, (int)w->prot,
			 flags | (w->kind == ANONYMOUS ? MAP_ANONYMOUS : 0), w->fd, 0);
	w->err = w->memory == MAP_FAILED ? errno : 0;
}

static void tidy_fd(struct work *w)
{
	if (w->fd > 0)
		close(w->fd);
}

static void do_protect(struct work *w)
{
	if (mprotect((void *)(uintptr_t)w->at, (size_t)w->length, (int)w->prot))
		w->err = errno;
}

/* By brk(2) itself: not every libc has sbrk(3). Nothing is put there. */
static void do_grow_heap(struct work *w)
{
	long end = syscall(SYS_brk, 0L) + (long)w->length;

	if (syscall(SYS_brk, end) != end)
		w->err = ENOMEM;
}

static void do_unshare(struct work *w)
{
	w->err = unshare((int)w->flags) ? errno : 0;
}

static void do_open(struct work *w)
{
	for (uint64_t i = 0; i < w->times; i++)
		close(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

/* What comes between the ioctls of `counted`, and before and behind them. */
struct workload {
	int (*ready)(struct work *); /* or NULL */
	void (*act)(struct work *);
	void (*tidy)(struct work *); /* or NULL */
	void (*show)(struct step *s, const struct work *w);
};

/* Where data_head of the event's buffer is. */
static int find_head(struct step *s, const struct workload_step *a, const uint64_t **head)
{
	struct map *map = step_map(s, (int)a->filled, true);

	if (!map || map->event == NO_EVENT)
		return step_misnamed(s, "filled", "an event that is mapped");
	*head = buffer_head(s->run, map);
	return 0;
}

/*
 * All requests are made before the first is used: nothing is looked up in between. REFRESH starts
 * an event alone, so members of its group are left as they are.
 */
static int act_counted(struct step *s, const struct workload *load, struct work *w,
		       const struct workload_step *a)
{
	long whom = a->refresh ? 0 : 1, how = a->refresh ? (long)a->refresh : 1;
	int fd = (int)a->counted, err = signals_rehearse();
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
	load->act(w);
	err = ioctl(fd, (ioctl_request)disable, whom) ? step_failed(s, errno) : 0;
	w->most = switches().all - before;
	return err;
}

static int act(struct step *s, const struct workload *load, struct work *w,
	       const struct workload_step *a)
{
	int err = 0;

	if (a->is_counted)
		err = act_counted(s, load, w, a);
	else
		load->act(w);
	return !err && w->err ? step_failed(s, w->err) : err;
}

static int run_workload(struct step *s)
{
	const struct workload_step *a = s->arguments;
	const struct workload *load = s->statement->verb->workload;
	struct work w = {.times = a->times,
			 .ms = a->ms,
			 .at = a->at,
			 .size = a->size,
			 .pages = a->pages,
			 .length = a->length,
			 .signals = a->signals,
			 .bytes = a->bytes,
			 .prot = (unsigned)a->prot,
			 .is_private = a->is_private,
			 .text = a->text,
			 .kind = (int)a->kind,
			 .flags = (unsigned)a->spaces,
			 .fd = -1};
	int err = a->has_filled ? find_head(s, a, &w.head) : 0;

	if (err)
		return err;
	err = load->ready ? load->ready(&w) : 0;
	if (err)
		return step_failed(s, -err);
	err = act(s, load, &w, a);
	if (!err && load->show)
		load->show(s, &w);
	if (load->tidy)
		load->tidy(&w);
	return err;
}

static void show_switch(struct step *s, const struct work *w)
{
	step_show_number(s, "least", w->least);
	step_show_number(s, "most", w->most);
}

static void show_map(struct step *s, const struct work *w)
{
	step_show_address(s, "address", (uintptr_t)w->memory);
	step_show_number(s, "length", w->length);
	step_show_number(s, "maj", major(w->file.st_dev));
	step_show_number(s, "min", minor(w->file.st_dev));
	step_show_number(s, "ino", w->file.st_ino);
}

static int check_refresh(struct compiling *c, const struct statement *statement,
			 const struct where *w)
{
	struct where at = where_key(w, "refresh");

	return statement_json(statement, "refresh") && !statement_json(statement, "counted")
		       ? error_name(c->error, &at, "refresh", NULL, "`counted` beside it")
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
#define WORKLOAD(load)                                                                             \
	.key = "workload", .run = run_workload, .in_c = workload_in_c, .check = check_refresh,     \
	.binds = BINDS_SHOWN, .is_behind_exec = true, .size = sizeof(struct workload_step),        \
	.workload = &(load)
#define WHAT                                                                                       \
	{                                                                                          \
		.key = "workload", .type = &argument_kind                                          \
	}
#define COUNTED                                                                                    \
	{"counted", &argument_bound, MEMBER(struct workload_step, counted),                        \
	 .given = offsetof(struct workload_step, is_counted),                                      \
	 .help = "an event, switched on right before it and off right behind, with its group"},    \
	{                                                                                          \
		"refresh", &argument_number, MEMBER(struct workload_step, refresh),                \
			.most = 1000,                                                              \
			.help = "so many overflows: REFRESH, not ENABLE, of that event alone"      \
	}
#define TIMES                                                                                      \
	{                                                                                          \
		"times", &argument_number, MEMBER(struct workload_step, times),                    \
			.fallback = 1, .most = 10000000, .help = "(1)"                             \
	}
#define MS                                                                                         \
	{                                                                                          \
		"ms", &argument_number, MEMBER(struct workload_step, ms),                          \
			.most = 2000, .help = "milliseconds (0)"                                   \
	}
#define ADDRESS                                                                                    \
	{                                                                                          \
		"at", &argument_number, MEMBER(struct workload_step, at),                          \
			.is_long = true, .help = "an address", .is_required = true                 \
	}
#define SIZE                                                                                       \
	{                                                                                          \
		"size", &argument_word_size, MEMBER(struct workload_step, size),                   \
			.fallback = 8, .help = "of the word: 1, 2, 4 or 8 bytes (8)"               \
	}
#define PAGES                                                                                      \
	{                                                                                          \
		"pages", &argument_number, MEMBER(struct workload_step, pages),                    \
			.fallback = 1, .most = 4096, .help = "so many (1)"                         \
	}
#define LENGTH                                                                                     \
	{                                                                                          \
		"length", &argument_number, MEMBER(struct workload_step, length),                  \
			.fallback = 4096, .most = 1 << 24, .help = "in bytes (4096)"               \
	}
#define PROT                                                                                       \
	{                                                                                          \
		"prot", &argument_words, MEMBER(struct workload_step, prot),                       \
			.words = memory_prots, .fallback = PROT_READ, .help = "([\"read\"])"       \
	}

/* Of a word that one instruction stores or loads: uint64_t. */
static int compile_word_size(struct compiling *c, const struct argument *a, struct operand *operand,
			     const struct where *w)
{
	json_int_t size = json_integer_value(operand->json);

	(void)a;
	operand->is_settled = true;
	operand->number = (uint64_t)size;
	return size == 1 || size == 2 || size == 4 || size == 8
		       ? 0
		       : error_value(c->error, w, operand->json, "1, 2, 4 or 8");
}

static const struct argument_type argument_word_size = {.compile = compile_word_size,
							.schema = "{\"enum\": [1, 2, 4, 8]}"};

/* The workload's own name, which has led to its row. */
static int compile_kind(struct compiling *c, const struct argument *a, struct operand *operand,
			const struct where *w)
{
	(void)c;
	(void)a;
	(void)operand;
	(void)w;
	return 0;
}

static const struct argument_type argument_kind = {.compile = compile_kind,
						   .schema = "{\"type\": \"string\"}"};

static const struct workload spin = {NULL, do_spin, NULL, NULL};
static const struct workload asleep = {NULL, do_sleep, NULL, NULL};
static const struct workload store = {NULL, do_store, NULL, NULL};
static const struct workload load = {NULL, do_load, NULL, NULL};
static const struct workload call = {NULL, do_call, NULL, NULL};
static const struct workload touch = {ready_touch, do_touch, tidy_memory, NULL};
static const struct workload file_fault = {ready_file_fault, do_touch, tidy_memory, NULL};
static const struct workload system_call = {NULL, do_syscall, NULL, NULL};
static const struct workload open_close = {NULL, do_open, NULL, NULL};
static const struct workload yield = {NULL, do_yield, NULL, NULL};
static const struct workload leave_cpu = {NULL, do_switch, NULL, show_switch};
static const struct workload migrate = {ready_migrate, do_migrate, NULL, NULL};
static const struct workload rename_thread = {ready_rename, do_rename, tidy_fd, NULL};
static const struct workload map = {ready_map, do_map, tidy_fd, show_map};
static const struct workload protect = {NULL, do_protect, NULL, NULL};
static const struct workload grow_heap = {NULL, do_grow_heap, NULL, NULL};
static const struct workload leave_spaces = {NULL, do_unshare, NULL, NULL};

const struct verb workload_verbs[] = {
	{.name = "spin",
	 WORKLOAD(spin),
	 .help = "cpu time, or turns of a loop",
	 .arguments =
		 (const struct argument[]){
			 WHAT,
			 {"ms", &argument_number, MEMBER(struct workload_step, ms), .most = 2000,
			  .help = "of cpu time, or until `signals` or `filled`"},
			 {"signals", &argument_number, MEMBER(struct workload_step, signals),
			  .most = 10000, .help = "so many were noted"},
			 {"filled", &argument_bound, MEMBER(struct workload_step, filled),
			  .given = offsetof(struct workload_step, has_filled),
			  .help = "the buffer of that event has had `bytes`"},
			 {"bytes", &argument_number, MEMBER(struct workload_step, bytes),
			  .fallback = 1, .help = "(1)"},
			 {"times", &argument_number, MEMBER(struct workload_step, times),
			  .fallback = 1, .most = 10000000,
			  .help = "turns, where there is no `ms` (1)"},
			 COUNTED,
			 {0}}},
	{.name = "sleep",
	 WORKLOAD(asleep),
	 .help = "nanosleep(2)",
	 .arguments = (const struct argument[]){WHAT, MS, COUNTED, {0}}},
	{.name = "store",
	 WORKLOAD(store),
	 .help = "a word at an address",
	 .arguments = (const struct argument[]){WHAT, ADDRESS, SIZE, TIMES, COUNTED, {0}}},
	{.name = "load",
	 WORKLOAD(load),
	 .help = "the same, read",
	 .arguments = (const struct argument[]){WHAT, ADDRESS, SIZE, TIMES, COUNTED, {0}}},
	{.name = "call",
	 WORKLOAD(call),
	 .help = "the function \"probed\"",
	 .arguments = (const struct argument[]){WHAT, TIMES, COUNTED, {0}}},
	{.name = "touch",
	 WORKLOAD(touch),
	 .help = "the first byte of so many new pages",
	 .arguments = (const struct argument[]){WHAT, PAGES, COUNTED, {0}}},
	{.name = "file-fault",
	 WORKLOAD(file_fault),
	 .help = "the same in pages of a file in memory",
	 .arguments = (const struct argument[]){WHAT, PAGES, COUNTED, {0}}},
	{.name = "syscall",
	 WORKLOAD(system_call),
	 .help = "getppid(2)",
	 .arguments = (const struct argument[]){WHAT, TIMES, COUNTED, {0}}},
	{.name = "open",
	 WORKLOAD(open_close),
	 .help = "openat(2) and close(2) of /dev/null",
	 .arguments = (const struct argument[]){WHAT, TIMES, COUNTED, {0}}},
	{.name = "yield",
	 WORKLOAD(yield),
	 .help = "sched_yield(2)",
	 .arguments = (const struct argument[]){WHAT, TIMES, COUNTED, {0}}},
	{.name = "switch",
	 WORKLOAD(leave_cpu),
	 .help = "leaves the cpu of its own accord, by sleeping; binds least: how often it left it "
		 "meanwhile, for whatever reason, and most: with the requests of `counted`, which "
		 "may sleep as well",
	 .arguments = (const struct argument[]){WHAT, TIMES, COUNTED, {0}}},
	{.name = "migrate",
	 WORKLOAD(migrate),
	 .help = "to and fro between two cpus",
	 .arguments = (const struct argument[]){WHAT, TIMES, COUNTED, {0}}},
	{.name = "rename",
	 WORKLOAD(rename_thread),
	 .help = "this thread",
	 .arguments =
		 (const struct argument[]){WHAT,
					   {"name", &argument_text,
					    MEMBER(struct workload_step, text), .help = "its name"},
					   {"what", &argument_word,
					    MEMBER(struct workload_step, kind),
					    .words = rename_ways, .help = "(prctl)"},
					   COUNTED,
					   {0}}},
	{.name = "map",
	 WORKLOAD(map),
	 .help = "mmap(2); binds address, length, and of a file maj, min and ino",
	 .arguments =
		 (const struct argument[]){
			 WHAT,
			 LENGTH,
			 PROT,
			 {"private", &argument_truth, MEMBER(struct workload_step, is_private),
			  .fallback = 1, .help = "MAP_PRIVATE, not MAP_SHARED (true)"},
			 {"name", &argument_text, MEMBER(struct workload_step, text),
			  .help = "of the memfd, or the file's path"},
			 {"what", &argument_word, MEMBER(struct workload_step, kind),
			  .words = map_kinds, .help = "(anonymous)"},
			 COUNTED,
			 {0}}},
	{.name = "protect",
	 WORKLOAD(protect),
	 .help = "mprotect(2)",
	 .arguments = (const struct argument[]){WHAT, ADDRESS, LENGTH, PROT, COUNTED, {0}}},
	{.name = "grow-heap",
	 WORKLOAD(grow_heap),
	 .help = "brk(2), to a heap that is longer",
	 .arguments = (const struct argument[]){WHAT, LENGTH, COUNTED, {0}}},
	{.name = "unshare",
	 WORKLOAD(leave_spaces),
	 .help = "unshare(2)",
	 .arguments = (const struct argument[]){WHAT,
						{"op", &argument_words,
						 MEMBER(struct workload_step, spaces),
						 .words = spaces, .help = "those namespaces"},
						COUNTED,
						{0}}},
	{0}};
