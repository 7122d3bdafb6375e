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

#include "call/event_ioctl.h"
#include "call/mmap_page.h"
#include "step/step.h"

struct work {
	uint64_t times, ms, at, size, pages, length, signals, bytes, refresh;
	const uint64_t *head; /* of a ring buffer, or NULL */
	unsigned prot;
	bool is_private;
	char text[160]; /* name or path */
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

/* A uprobe is put on its first instruction, so it must be there, and called, as written. */
__attribute__((noinline, used)) void workload_probed(void)
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
 */
static uint64_t spin_once(void)
{
	const uint64_t left = switches().all, begun = cpu_time();
	uint64_t ended;

	for (volatile int i = 0; i < 1000; i++)
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
			*(volatile uint64_t *)(uintptr_t)w->at = i;
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
			(void)*(volatile uint64_t *)(uintptr_t)w->at;
	}
}

static void do_call(struct work *w)
{
	for (uint64_t i = 0; i < w->times; i++)
		workload_probed();
}

/* Fresh pages, small ones: a huge one would be one fault. */
static int ready_touch(struct work *w)
{
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
	size_t page = w->memory_size / (w->pages ? (size_t)w->pages : 1);

	for (size_t i = 0; i < w->pages; i++)
		*(volatile unsigned char *)(w->memory + i * page) = 1;
}

static void tidy_memory(struct work *w)
{
	munmap(w->memory, w->memory_size);
}

/* Pages of a file that are in the page cache, each mapped when it is read. */
static int ready_file_fault(struct work *w)
{
	int fd = (int)syscall(SYS_memfd_create, "perfabi-pages", 1U /* MFD_CLOEXEC */);

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
static const char *const rename_ways[] = {"prctl", "proc", NULL};

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
static const char *const map_kinds[] = {"anonymous", "memfd", "file", NULL};

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

static void do_grow_heap(struct work *w)
{
	w->memory = sbrk((intptr_t)w->length);
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

static const struct workload {
	const char *name;
	int (*ready)(struct work *); /* or NULL */
	void (*act)(struct work *);
	void (*tidy)(struct work *); /* or NULL */
	const char *keys;
	const char *const *whats; /* the words of `what`, or NULL */
	const char *help;
} workloads[] = {
	{"spin", NULL, do_spin, NULL, "ms times signals filled bytes", NULL,
	 "for `ms` of cpu time, or until so many `signals` were noted or the buffer of the event "
	 "`filled` has had `bytes`; or `times` turns of a loop"},
	{"sleep", NULL, do_sleep, NULL, "ms", NULL, "for `ms`"},
	{"store", NULL, do_store, NULL, "at size times", NULL,
	 "a word of `size` bytes `at` an address"},
	{"load", NULL, do_load, NULL, "at size times", NULL, "the same, read"},
	{"call", NULL, do_call, NULL, "times", NULL, "the function \"probed\""},
	{"touch", ready_touch, do_touch, tidy_memory, "pages", NULL,
	 "the first byte of so many new pages"},
	{"file-fault", ready_file_fault, do_touch, tidy_memory, "pages", NULL,
	 "the same in pages of a file in memory"},
	{"syscall", NULL, do_syscall, NULL, "times", NULL, "getppid(2)"},
	{"open", NULL, do_open, NULL, "times", NULL, "openat(2) and close(2) of /dev/null"},
	{"yield", NULL, do_yield, NULL, "times", NULL, "sched_yield(2)"},
	{"switch", NULL, do_switch, NULL, "times", NULL,
	 "leaves the cpu of its own accord, by sleeping; binds least: how often it left it "
	 "meanwhile, for whatever reason, and most: with the requests of `counted`, which may "
	 "sleep "
	 "as well"},
	{"migrate", ready_migrate, do_migrate, NULL, "times", NULL, "to and fro between two cpus"},
	{"rename", ready_rename, do_rename, tidy_fd, "name what", rename_ways,
	 "this thread, by \"prctl\" (default) or \"proc\""},
	{"map", ready_map, do_map, tidy_fd, "length prot private name what", map_kinds,
	 "mmap(2), \"anonymous\", \"memfd\" of that name or \"file\"; binds address, length, and "
	 "of a file maj, min and ino"},
	{"protect", NULL, do_protect, NULL, "at length prot", NULL, "mprotect(2)"},
	{"grow-heap", NULL, do_grow_heap, NULL, "length", NULL, "sbrk(2)"},
	{"unshare", NULL, do_unshare, NULL, "op", NULL,
	 "unshare(2): op: [\"uts\", \"ipc\", \"net\", \"mnt\", \"cgroup\", \"user\", \"pid\", "
	 "\"time\"]"},
};
enum { WORKLOADS = sizeof(workloads) / sizeof(workloads[0]) };

void workloads_help(FILE *f)
{
	for (size_t i = 0; i < WORKLOADS; i++) {
		fprintf(f, "    %-11s ", workloads[i].name);
		help_words(f, workloads[i].help);
		fprintf(f, "                  keys: %s counted\n", workloads[i].keys);
	}
	fputs("  counted: an event, switched on right before the workload and off right behind it, "
	      "with "
	      "its group\n"
	      "  refresh: so many overflows: REFRESH instead of ENABLE, of that event alone\n",
	      f);
}

static const struct workload *find(struct step *s)
{
	const char *name = json_string_value(s->argument);
	struct nearest near = nearest_to(name ? name : "");

	for (size_t i = 0; name && i < WORKLOADS; i++) {
		if (!strcmp(workloads[i].name, name))
			return &workloads[i];
		nearest_try(&near, workloads[i].name);
	}
	error_name(s->error, &s->at, name ? name : "", near.best,
		   "a workload (perfabi help steps)");
	return NULL;
}

/* A key that this workload has no use for is a slip of the pen. */
static int check_keys(struct step *s, const struct workload *load)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)s->json, key, value) {
		struct where at = where_key(s->where, key);

		if (step_in_words(load->keys, key) || !strcmp(key, "workload") ||
		    !strcmp(key, "counted") || !strcmp(key, "refresh") || !strcmp(key, "bind") ||
		    !strcmp(key, "when"))
			continue;
		return error_name(s->error, &at, key, NULL, "for \"%s\": %s", load->name,
				  load->keys);
	}
	return 0;
}

static int read_flags(struct step *s, struct work *w)
{
	static const struct step_bit spaces[] = {
		{"uts", CLONE_NEWUTS},       {"ipc", CLONE_NEWIPC},
		{"net", CLONE_NEWNET},       {"mnt", CLONE_NEWNS},
		{"cgroup", CLONE_NEWCGROUP}, {"user", CLONE_NEWUSER},
		{"pid", CLONE_NEWPID},       {"time", 0x80}};
	int err = step_bits(s, "op", spaces, 8, 0, &w->flags);

	return err ? err : step_prot(s, PROT_READ, &w->prot);
}

/* Where data_head of the event's buffer is. */
static int find_head(struct step *s, const uint64_t **head)
{
	struct where at = where_key(s->where, "filled");
	struct map *map;
	uint64_t fd;
	int err = step_bound(s, "filled", &fd);

	if (err || step_is_checked(s))
		return err;
	map = step_map(s, (int)fd);
	if (!map)
		return error_value(s->error, &at, json_object_get(s->json, "filled"),
				   "an event that is mapped");
	*head = (const uint64_t *)(const void *)(map->at +
						 mmap_page_offset(s->cases->abi, "data_head"));
	return 0;
}

static int read_work(struct step *s, const struct workload *load, struct work *w)
{
	const char *text = json_object_get(s->json, "name") ? "name" : NULL;
	int err = step_number(s, "times", 1, 10000000, &w->times);

	if (!err)
		err = step_number(s, "ms", 0, 2000, &w->ms);
	if (!err)
		err = step_number(s, "at", 0, UINT64_MAX, &w->at);
	if (!err)
		err = step_number(s, "size", 8, 8, &w->size);
	if (!err)
		err = step_number(s, "pages", 1, 4096, &w->pages);
	if (!err)
		err = step_number(s, "length", 4096, 1 << 24, &w->length);
	if (!err)
		err = step_truth(s, "private", true, &w->is_private);
	if (!err)
		err = step_number(s, "signals", 0, 10000, &w->signals);
	if (!err)
		err = step_number(s, "refresh", 0, 1000, &w->refresh);
	if (!err && json_object_get(s->json, "refresh") && !json_object_get(s->json, "counted")) {
		struct where at = where_key(s->where, "refresh");

		err = error_name(s->error, &at, "refresh", NULL, "`counted` beside it");
	}
	if (!err)
		err = step_number(s, "bytes", 1, UINT64_MAX, &w->bytes);
	if (!err && json_object_get(s->json, "filled"))
		err = find_head(s, &w->head);
	if (!err && text)
		err = step_text(s, text, w->text, sizeof(w->text));
	if (!err && load->whats)
		err = step_word(s, "what", load->whats, 0, &w->kind);
	return err ? err : read_flags(s, w);
}

/*
 * All requests are made before the first is used: nothing is looked up in between. REFRESH starts
 * an event alone, so members of its group are left as they are.
 */
static int act(struct step *s, const struct workload *load, struct work *w, int fd)
{
	long whom = w->refresh ? 0 : 1, how = w->refresh ? (long)w->refresh : 1;
	unsigned long on, disable;
	uint64_t before;
	int err;

	if (fd < 0) {
		load->act(w);
		return 0;
	}
	err = signals_rehearse();
	if (err)
		return step_failed(s, -err);
	on = event_ioctl_number(s->cases->abi, w->refresh ? "refresh" : "enable");
	disable = event_ioctl_number(s->cases->abi, "disable");
	if (ioctl(fd, disable, whom))
		return step_failed(s, errno);
	before = switches().all;
	if (ioctl(fd, on, how))
		return step_failed(s, errno);
	load->act(w);
	err = ioctl(fd, disable, whom) ? step_failed(s, errno) : 0;
	w->most = switches().all - before;
	return err;
}

static void show_work(struct step *s, const struct workload *load, const struct work *w)
{
	char address[24];

	if (load->act == do_switch) {
		step_show_number(s, "least", w->least);
		step_show_number(s, "most", w->most);
	}
	if (load->act != do_map)
		return;
	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)(uintptr_t)w->memory);
	step_show(s, "address", json_string(address));
	step_show_number(s, "length", w->length);
	step_show_number(s, "maj", major(w->file.st_dev));
	step_show_number(s, "min", minor(w->file.st_dev));
	step_show_number(s, "ino", w->file.st_ino);
}

int verb_workload(struct step *s)
{
	const struct workload *load = find(s);
	struct work w = {.fd = -1};
	uint64_t counted = UINT64_MAX;
	int err = load ? check_keys(s, load) : -EINVAL;

	if (!err)
		err = read_work(s, load, &w);
	if (!err && json_object_get(s->json, "counted"))
		err = step_bound(s, "counted", &counted);
	if (err || step_is_checked(s))
		return err;
	err = load->ready ? load->ready(&w) : 0;
	if (err)
		return step_failed(s, -err);
	err = act(s, load, &w, (int)counted);
	if (!err && w.err)
		err = step_failed(s, w.err);
	if (!err)
		show_work(s, load, &w);
	if (load->tidy)
		load->tidy(&w);
	return err;
}
