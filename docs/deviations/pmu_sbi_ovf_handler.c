/* SPDX-License-Identifier: MIT */
/*
 * hardware.sample.throttle.root
 * a hardware event that samples too often is stopped until the next tick, and says so
 *
 * Man page: perf_event_open(2), PERF_RECORD_THROTTLE
 * Kernel: __perf_event_overflow, perf_log_throttle
 * Since: Linux 2.6.31
 * Note: the cases sample cycles, since each turn of a loop is one at least, and every PMU that 
 *  samples samples them. An interrupt that is no NMI can find the task on its way into the 
 *  kernel
 * Needs (perfabi help tokens): pmu.hw.sampling
 *
 *     cc -Wall -Wextra -Werror -pthread -o case case.c && sudo ./case
 *
 * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it
 * cannot be tried like this. Written by `perfabi show --c`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* sizeof(struct perf_event_attr) of Linux 7.3, and the room that it is passed in. */
enum { ATTR_SIZE = 144, ATTR_ROOM = ATTR_SIZE };

static uint64_t take32(const unsigned char **p)
{
	uint32_t number;

	memcpy(&number, *p, sizeof(number));
	*p += sizeof(number);
	return number;
}

/* The kernel did not keep its word. */
static void fail(int err)
{
	(void)err;
	printf("FAIL\n");
	fflush(NULL);
	exit(1);
}

/* What every record must be, whatever is in it. */
static void well_formed(int holds, const char *what)
{
	if (holds)
		return;
	printf("expected %s\n", what);
	fail(0);
}

/* Whether a text ends before `end`, and what is behind it is less than 8 zeros. */
static int is_padded(const unsigned char *at, const unsigned char *end)
{
	const unsigned char *nul = at;

	while (nul < end && *nul)
		nul++;
	if (nul == end || end - nul > 8)
		return 0;
	while (nul < end && !*nul)
		nul++;
	return nul == end;
}

static uint64_t take64(const unsigned char **p)
{
	uint64_t number;

	memcpy(&number, *p, sizeof(number));
	*p += sizeof(number);
	return number;
}

static uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

/* How many bytes whole records take: of a buffer that was overwritten, the last is cut. */
static size_t whole_records(const unsigned char *at, size_t size)
{
	size_t n = 0, next;

	while (n + sizeof(struct perf_event_header) <= size) {
		next = ((const struct perf_event_header *)(const void *)(at + n))->size;
		if (!next || next > size - n)
			break;
		n += next;
	}
	return n;
}

/*
 * What is new in a ring buffer, in one piece; unless kept, its room is given back. With
 * write_backward the newest record is the first, and nothing can be given back.
 */
static unsigned char *copy_ring(void *map, bool keep, size_t *size)
{
	struct perf_event_mmap_page *page = map;
	const unsigned char *data = (unsigned char *)map + page_size();
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), from = page->data_tail;
	bool is_backward = (int64_t)head < 0;
	unsigned char *copy;

	*size = (size_t)(is_backward ? -head : head - from);
	if (is_backward) {
		from = head;
		*size = *size < page->data_size ? *size : page->data_size;
	}
	must(*size <= page->data_size);
	copy = malloc(*size + 1);
	must(copy);
	for (size_t i = 0; i < *size; i++)
		copy[i] = data[(from + i) & (page->data_size - 1)];
	if (is_backward)
		*size = whole_records(copy, *size);
	else if (!keep)
		__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return copy;
}

static void must_be_root(void)
{
	if (!geteuid())
		return;
	printf("SKIP: this is about root\n");
	exit(4);
}

/* What the case needs: where it is missing, nothing can be said of the kernel. */
static void must_have(int is_there, const char *token)
{
	if (is_there)
		return;
	printf("SKIP: the case needs %s (perfabi help tokens)\n", token);
	exit(4);
}

/* The kernel looks at the flags first, and says EINVAL to such; a seccomp filter says something else. */
static int opens_reach_kernel(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0UL) < 0 && errno == EINVAL;
}

/* Whether an event of user space opens, that samples if it has a period. */
static int event_opens(uint32_t type, uint64_t config, uint64_t period)
{
	struct perf_event_attr asked = {.type = type, .size = PERF_ATTR_SIZE_VER0,
				       .config = config, .sample_period = period, .disabled = 1,
				       .exclude_kernel = 1, .exclude_hv = 1};
	long fd = syscall(SYS_perf_event_open, &asked, 0, -1, -1, 0UL);

	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

/* Where tracefs is mounted; or a mount that nobody else sees, and that goes with its descriptor. */
static int open_tracefs(void)
{
	static const char *const paths[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int fs, mount;

	for (int i = 0; i < 2; i++) {
		int fd = open(paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0 && !faccessat(fd, "events", F_OK, 0))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	fs = (int)syscall(SYS_fsopen, "tracefs", 0);
	syscall(SYS_fsconfig, fs, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0);
	mount = (int)syscall(SYS_fsmount, fs, 0, 0);
	close(fs);
	return mount;
}

/* How often the task left the cpu: in what it did, and with the requests around that. */
struct left {
	uint64_t least, most;
};

/* Waits for perfabi, and for other such programs: what one saves is not what another has changed. */
static void lock_machine(void)
{
	int tracefs = openat(open_tracefs(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned left;

	if (tracefs < 0 || !flock(tracefs, LOCK_EX | LOCK_NB))
		return;
	printf("waiting for perfabi, or for another program of its\n");
	fflush(stdout);
	left = alarm(0);
	must(!flock(tracefs, LOCK_EX));
	alarm(left);
}

/* All that would end the program before it has set back what it changes, and SIGCHLD. */
static sigset_t kept_signals, signals_before;

static void keep_signals(void)
{
	static const int let[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH, SIGURG};

	sigfillset(&kept_signals);
	for (size_t i = 0; i < sizeof(let) / sizeof(let[0]); i++)
		sigdelset(&kept_signals, let[i]);
	must(!sigprocmask(SIG_BLOCK, &kept_signals, &signals_before));
}

/* What perf's files in /proc/sys/kernel are, as far as there are such. */
static struct {
	const char *name;
	char value[64];
} saved[] = {{"perf_event_paranoid", ""},
	     {"perf_event_max_sample_rate", ""},
	     {"perf_event_mlock_kb", ""},
	     {"perf_event_max_stack", ""},
	     {"perf_event_max_contexts_per_stack", ""},
	     {"perf_cpu_time_max_percent", ""},
	     {"perf_user_access", ""}};
static pid_t saved_by;

static long write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;
	long n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	err = errno;
	close(fd);
	errno = err;
	return n;
}

static void restore_sysctls(void)
{
	if (saved_by != getpid())
		return;
	/* With 0 or 100 percent the sample rate cannot be written (perf_event_max_sample_rate_handler()). */
	write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "25");
	for (size_t i = 0; i < sizeof(saved) / sizeof(saved[0]); i++) {
		char path[256];

		snprintf(path, sizeof(path), "/proc/sys/kernel/%s", saved[i].name);
		if (saved[i].value[0] && write_file(path, saved[i].value) < 0)
			perror(path);
	}
}

/* They are set back when this process ends, and not by its children. */
static void save_sysctls(void)
{
	for (size_t i = 0; i < sizeof(saved) / sizeof(saved[0]); i++) {
		char path[256];
		int fd;

		snprintf(path, sizeof(path), "/proc/sys/kernel/%s", saved[i].name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, saved[i].value, sizeof(saved[i].value) - 1) < 0)
			saved[i].value[0] = '\0';
		if (fd >= 0)
			close(fd);
	}
	saved_by = getpid();
	must(!atexit(restore_sysctls));
}

/* Another value for a file in /proc/sys/kernel. */
static void set_sysctl(const char *name, const char *value)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	must(fd >= 0 && write(fd, value, strlen(value)) > 0);
	close(fd);
}

/* Text as printf(3) has it, which stays. */
__attribute__((format(printf, 1, 2))) static const char *text_of(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	must(vasprintf(&text, format, args) >= 0);
	va_end(args);
	return text;
}

/* Those that are waited for at the end, whoever they are to be waited for by. */
static pid_t children[32];

/* Its pid; 0 in the child, which dies with its parent. */
static uint64_t fork_child(void)
{
	pid_t parent = getpid(), pid;
	int i = 0;

	fflush(NULL);
	while (children[i])
		must(++i < 32);
	pid = fork();
	must(pid >= 0);
	children[i] = pid;
	if (!pid) {
		memset(children, 0, sizeof(children));
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			exit(3);
	}
	return (uint64_t)pid;
}

/* As they were, for the case. */
static void let_signals(void)
{
	must(!sigprocmask(SIG_SETMASK, &signals_before, NULL));
}

/* This thread runs on that cpu alone. */
static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(!sched_setaffinity(0, sizeof(set), &set));
}

/* As long as the newest kernel's, whatever <linux/perf_event.h> this is. */
union attr {
	struct perf_event_attr attr;
	unsigned char bytes[ATTR_ROOM];
};

/* Says what a call did, which must be what was expected; what it returned. */
static long answer(const char *call, long ret, int expected, const char *name)
{
	int got = ret < 0 ? errno : 0;

	printf("%s\n\texpected %s, got %s\n", call, name, got ? strerror(got) : "success");
	if (got != expected)
		fail(got);
	return ret;
}

/* A call that must succeed (0), or fail with that errno. */
#define expect_errno(call, expected) answer(#call, (call), expected, expected ? #expected : "success")

static long open_event(const void *attr, int pid, int cpu, int group_fd, unsigned long flags)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

static uint64_t event_id(uint64_t fd)
{
	uint64_t id = 0;

	must(!ioctl((int)fd, PERF_EVENT_IOC_ID, &id));
	return id;
}

static void *mapped_at(const char *call, void *at, int expected, const char *name)
{
	answer(call, at == MAP_FAILED ? -1 : 0, expected, name);
	return at;
}

/* The same of mmap(2), which returns an address. */
#define expect_map(call, expected)                                                                 \
	mapped_at(#call, (call), expected, expected ? #expected : "success")

/* How often this thread has left the cpu: of its own accord, and in all. */
struct switches {
	uint64_t voluntary, all;
};

static struct switches switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (struct switches){(uint64_t)usage.ru_nvcsw,
				 (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw};
}

/* A clock as the kernel has it: what a time namespace adds is taken away. */
static uint64_t nanoseconds(clockid_t clock)
{
	const char *name = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ? "monotonic" : clock == CLOCK_BOOTTIME ? "boottime" : "none";
	long long seconds, more, offset = 0;
	char word[16];
	FILE *offsets;
	struct timespec t;

	must(!clock_gettime(clock, &t));
	offsets = strcmp(name, "none") ? fopen("/proc/self/timens_offsets", "re") : NULL;
	while (offsets && fscanf(offsets, "%15s %lld %lld", word, &seconds, &more) == 3)
		if (!strcmp(word, name))
			offset = seconds * 1000000000 + more;
	if (offsets)
		fclose(offsets);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec - (uint64_t)offset;
}

/* The cpu time of one short loop; 0 if the task left the cpu meanwhile. */
static uint64_t spin_once(void)
{
	const uint64_t switched = switches().all, begun = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	uint64_t ended;

	for (volatile int i = 0; i < 10000; i++)
		;
	ended = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	return switches().all == switched ? ended - begun : 0;
}

static void compared(const char *condition, int holds, uint64_t got)
{
	printf("expected %s\n\tgot %llu (%#llx)\n", condition, (unsigned long long)got,
	       (unsigned long long)got);
	if (holds)
		return;
	fail(0);
}

/* A promise about a value. */
#define expect(condition, got) compared(#condition, (condition) != 0, (uint64_t)(got))

/* Waits for the case; who sends a signal ends it, not this program. Returns the exit status. */
static int outlast(uint64_t pid)
{
	int status, sig = 0;
	pid_t ended;

	while (!(ended = waitpid((pid_t)pid, &status, WNOHANG))) {
		int got = sigwaitinfo(&kept_signals, NULL);

		if (got < 0 || got == SIGCHLD)
			continue;
		sig = got;
		kill((pid_t)pid, SIGKILL);
	}
	must(ended > 0);
	if (sig == SIGALRM)
		printf("FAIL: it does not end in time\n");
	if (sig)
		return sig == SIGALRM ? 1 : 3;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* The case. */

struct e_record {
	uint64_t type;
	uint64_t misc;
	uint64_t size;
	uint64_t tid;
	uint64_t time;
	uint64_t id;
	uint64_t sample_id_tid;
	uint64_t sample_id_time;
	uint64_t sample_id_id;
};

static uint64_t the_case;
static uint64_t e;
static uint64_t e_id;
static void *e_map;
static uint64_t e_map_length;
static struct e_record *e_records;
static uint64_t e_records_nr;
static uint64_t fit_1;
static uint64_t n;
static uint64_t fit_2;
static uint64_t u;
static int the_end;

static void parse_e_record(const unsigned char *begin, struct e_record *r)
{
	const struct perf_event_header *header = (const void *)begin;
	const unsigned char *p = begin + sizeof(*header);
	const unsigned char *end = begin + header->size - 24; /* sample_id */
	uint64_t n = 0;

	r->type = header->type;
	r->misc = header->misc;
	r->size = header->size;
	switch (r->type) {
	case 1: { /* PERF_RECORD_MMAP */
		p += 4; /* pid */
		r->tid = take32(&p);
		p += 8; /* addr */
		p += 8; /* len */
		p += 8; /* pgoff */
		well_formed(is_padded(p, end), "a text, and less than 8 zeros behind it");
		p = end;
		break;
	}
	case 5: { /* PERF_RECORD_THROTTLE */
		r->time = take64(&p);
		r->id = take64(&p);
		p += 8; /* stream_id */
		break;
	}
	case 6: { /* PERF_RECORD_UNTHROTTLE */
		r->time = take64(&p);
		r->id = take64(&p);
		p += 8; /* stream_id */
		break;
	}
	case 9: { /* PERF_RECORD_SAMPLE */
		end = begin + r->size;
		p += 4; /* pid */
		r->tid = take32(&p);
		r->time = take64(&p);
		r->id = take64(&p);
		break;
	}
	default:
		p = end;
	}
	if (r->type == PERF_RECORD_SAMPLE) {
		well_formed(p == begin + header->size, "fields that take all of a record");
		return;
	}
	p += 4; /* pid */
	r->sample_id_tid = take32(&p);
	r->sample_id_time = take64(&p);
	r->sample_id_id = take64(&p);
	well_formed(p == begin + header->size, "fields that take all of a record");
	(void)n;
	(void)p;
	(void)end;
}

/* What is new in the buffer, of the types whose bits are set. */
static struct e_record *read_e_records(void *map, uint64_t types, bool keep, uint64_t *nr)
{
	struct e_record *list;
	size_t size;
	unsigned char *at = copy_ring(map, keep, &size);

	list = calloc(size / sizeof(struct perf_event_header) + 16, sizeof(*list));
	must(list);
	*nr = 0;
	for (size_t n = 0; n < size; n += ((struct perf_event_header *)(void *)(at + n))->size)
		if (types >> ((struct perf_event_header *)(void *)(at + n))->type & 1)
			parse_e_record(at + n, &list[(*nr)++]);
	return list;
}

int main(void)
{
	alarm(300);
	must_be_root();
	must_have(opens_reach_kernel(), "perf_event_open");
	must_have(event_opens(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1000000), "pmu.hw.sampling");
	lock_machine();
	keep_signals();
	save_sysctls();
	set_sysctl("perf_event_max_sample_rate", text_of("%lld", (long long)(2000)));
	if (!(the_case = fork_child())) {
		let_signals();

		/* {"affinity":"$hardware.cpu"} */
		run_on((uint64_t)sched_getcpu());

		/* open */
		{
			union attr attr = {.attr = {
				.type = PERF_TYPE_HARDWARE,
				.size = ATTR_SIZE,
				.config = PERF_COUNT_HW_CPU_CYCLES,
				.sample_period = 20000,
				.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID,
				.disabled = 1,
				.exclude_kernel = 1,
				.exclude_hv = 1,
				.sample_id_all = 1,
			}};
			e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
			e_id = event_id(e);
		}

		/* {"mmap":"e","pages":32} */
		e_map_length = (1 + 32) * page_size();
		e_map = expect_map(mmap(NULL, e_map_length, PROT_READ | PROT_WRITE, MAP_SHARED, (int)e, 0), 0);

		/* {"workload":"spin","ms":100,"counted":"e"} */
		must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
		must(!ioctl((int)e, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
		for (uint64_t spun = 0; spun < UINT64_C(1000000) * 100;)
			spun += spin_once();
		must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));

		/* records */
		e_records = read_e_records(e_map, 0x60, false, &e_records_nr);
		fit_1 = 0;
		for (uint64_t i_1 = 0; i_1 < e_records_nr; i_1++) {
			fit_1 += (e_records[i_1].type == (uint64_t)(PERF_RECORD_THROTTLE) && e_records[i_1].id == (uint64_t)e_id);
		}
		n = fit_1;
		fit_2 = 0;
		for (uint64_t i_2 = 0; i_2 < e_records_nr; i_2++) {
			fit_2 += (e_records[i_2].type == (uint64_t)(PERF_RECORD_UNTHROTTLE) && e_records[i_2].id == (uint64_t)e_id);
		}
		u = fit_2;

		/* {"value":"$n","expect":{"ge":2}} */
		expect(n >= 2, n);

		/* {"value":"$u","expect":{"between":["$n-1","$n"]}} */
		expect(u >= (uint64_t)(n-1) && u <= (uint64_t)n, u);

		printf("PASS\n");
		must(!fflush(stdout));
		exit(0);
	}
	the_end = outlast(the_case);
	return the_end;
}
