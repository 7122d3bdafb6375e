/* SPDX-License-Identifier: MIT */
/*
 * rdpmc.arm64.reset.root.32
 * on arm64 RESET zeroes what user space reads, too
 *
 * Man page: perf_event_open(2), MMAP layout, cap_user_rdpmc
 * Kernel: armv8pmu_user_event_idx, arch_perf_update_userpage
 * Since: Linux 5.17
 * Needs (perfabi help tokens): arch.arm64, pmu.hw, pmu.hw.format.rdpmc
 *
 *     cc -Wall -Wextra -Werror -pthread -o case case.c && sudo ./case
 *
 * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it
 * cannot be tried like this. Written by `perfabi show --c`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
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
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* sizeof(struct perf_event_attr) of Linux 7.3, and the room that it is passed in. */
enum { ATTR_SIZE = 144, ATTR_ROOM = ATTR_SIZE };

/* The instruction that reads a counter; those of arm64 and riscv have its number in themselves. */
#define EACH_TO_30(ONE)                                                                            \
	ONE(0)                                                                                     \
	ONE(1)                                                                                     \
	ONE(2)                                                                                     \
	ONE(3) ONE(4) ONE(5) ONE(6) ONE(7) ONE(8) ONE(9) ONE(10) ONE(11) ONE(12) ONE(13) ONE(14)   \
		ONE(15) ONE(16) ONE(17) ONE(18) ONE(19) ONE(20) ONE(21) ONE(22) ONE(23) ONE(24)    \
			ONE(25) ONE(26) ONE(27) ONE(28) ONE(29) ONE(30)

#if defined(__x86_64__) || defined(__i386__)
static bool counter_read(uint32_t index, uint64_t *value)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
	*value = (uint64_t)high << 32 | low;
	return true;
}
#elif defined(__aarch64__)
#define READ_COUNTER(n)                                                                            \
	case n:                                                                                    \
		__asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(*value));                     \
		return true;

static bool counter_read(uint32_t index, uint64_t *value)
{
	switch (index - 1) {
		EACH_TO_30(READ_COUNTER)
	case 31: /* ARMV8_IDX_CYCLE_COUNTER_USER */
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(*value));
		return true;
	default:
		return false;
	}
}
#elif defined(__riscv) && __riscv_xlen == 64
#define READ_COUNTER(n)                                                                            \
	case n:                                                                                    \
		__asm__ volatile("csrr %0, 0xc00 + " #n : "=r"(*value));                           \
		return true;

static bool counter_read(uint32_t index, uint64_t *value)
{
	switch (index - 1) {
		EACH_TO_30(READ_COUNTER)
		READ_COUNTER(31)
	default:
		return false;
	}
}
#else
static bool counter_read(uint32_t index, uint64_t *value)
{
	(void)index;
	(void)value;
	return false;
}
#endif

/* A count read in user space by the man page's algorithm. */
struct rdpmc {
	uint64_t index, value;
	bool has_value;
};

static struct rdpmc rdpmc(void *map)
{
	volatile struct perf_event_mmap_page *page = map;
	struct rdpmc got;
	uint32_t before;
	uint64_t raw;

	do {
		before = page->lock;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		got = (struct rdpmc){.index = page->index, .value = (uint64_t)page->offset};
		if (page->cap_user_rdpmc && page->pmc_width && page->pmc_width <= 64 && got.index)
			got.has_value = counter_read((uint32_t)got.index, &raw);
		if (got.has_value) {
			raw <<= 64 - page->pmc_width;
			got.value += (uint64_t)((int64_t)raw >> (64 - page->pmc_width));
		}
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (page->lock != before);
	return got;
}

/* The kernel did not keep its word. */
static void fail(int err)
{
	(void)err;
	printf("FAIL\n");
	fflush(NULL);
	exit(1);
}

/* Says what a call did, which must be what was expected; what it returned. */
static long answer(const char *call, long ret, int expected, const char *name)
{
	int got = ret < 0 ? errno : 0;

	printf("%s\n\texpected %s, got %s\n", call, name, got ? strerror(got) : "success");
	if (got != expected)
		fail(got);
	return ret;
}

static uint64_t take64(const unsigned char **p)
{
	uint64_t number;

	memcpy(&number, *p, sizeof(number));
	*p += sizeof(number);
	return number;
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

/* Whether uname(2) has one of these names, a space around each. */
static int machine_is(const char *names)
{
	struct utsname u = {0};
	char name[sizeof(u.machine) + 2];

	uname(&u);
	snprintf(name, sizeof(name), " %s ", u.machine);
	return strstr(names, name) != NULL;
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

/* Whether there is such a file; * stands for any name. */
static int file_is_there(const char *path)
{
	return !glob(path, 0, NULL, &(glob_t){0});
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

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

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

/* A call that must succeed (0), or fail with that errno. */
#define expect_errno(call, expected) answer(#call, (call), expected, expected ? #expected : "success")

static long open_event(const void *attr, int pid, int cpu, int group_fd, unsigned long flags)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

static uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static void *mapped_at(const char *call, void *at, int expected, const char *name)
{
	answer(call, at == MAP_FAILED ? -1 : 0, expected, name);
	return at;
}

/* The same of mmap(2), which returns an address. */
#define expect_map(call, expected)                                                                 \
	mapped_at(#call, (call), expected, expected ? #expected : "success")

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

struct e_values {
	uint64_t bytes;
	uint64_t value;
};

static uint64_t the_case;
static uint64_t e;
static void *e_map;
static uint64_t e_map_length;
static uint64_t value_1;
static struct rdpmc e_rdpmc;
static struct rdpmc r;
static struct e_values e_now;
static int the_end;

/* By the read_format of the event. */
static struct e_values read_e_values(int fd, void *at, size_t size)
{
	static unsigned char buffer[65536];
	const unsigned char *p = at ? at : buffer;
	struct e_values kept = {0}, *r = &kept;
	long got = read(fd, at ? at : buffer, size);
	uint64_t n = 0;

	(void)n, (void)r;
	answer("read", got, 0, "success");
	kept.bytes = (uint64_t)got;
	if (got) {
		r->value = take64(&p);
	}
	(void)p;
	return kept;
}

int main(void)
{
	alarm(300);
	must_be_root();
	must_have(opens_reach_kernel(), "perf_event_open");
	must_have(machine_is(" aarch64  aarch64_be "), "arch.arm64");
	must_have(event_opens(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0), "pmu.hw");
	must_have(file_is_there("/sys/bus/event_source/devices/*/format/rdpmc"), "pmu.hw.format.rdpmc");
	lock_machine();
	keep_signals();
	save_sysctls();
	set_sysctl("perf_user_access", text_of("%lld", (long long)(1)));
	if (!(the_case = fork_child())) {
		let_signals();

		/* {"affinity":"$hardware.cpu"} */
		run_on((uint64_t)sched_getcpu());

		/* open */
		{
			union attr attr = {.attr = {
				.type = PERF_TYPE_HARDWARE,
				.size = ATTR_SIZE,
				.config = PERF_COUNT_HW_INSTRUCTIONS,
				.disabled = 0,
				.exclude_kernel = 1,
				.exclude_hv = 1,
				.config1 = 2,
			}};
			e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
		}

		/* {"mmap":"e","pages":1} */
		e_map_length = (1 + 1) * page_size();
		e_map = expect_map(mmap(NULL, e_map_length, PROT_READ | PROT_WRITE, MAP_SHARED, (int)e, 0), 0);

		/* {"workload":"spin","times":1000000} */
		for (volatile uint64_t i = 0; i < 1000000; i++)
			;

		/* {"ioctl":"reset","on":"e"} */
		value_1 = 0;
		expect_errno(ioctl((int)e, PERF_EVENT_IOC_RESET, &value_1), 0);

		/* {"rdpmc":"e","expect":{"value":{"lt":1000000}}} */
		e_rdpmc = rdpmc(e_map);
		expect(e_rdpmc.value < 1000000, e_rdpmc.value);

		/* {"workload":"spin","times":1000000} */
		for (volatile uint64_t i = 0; i < 1000000; i++)
			;

		/* {"rdpmc":"e","bind":"r","expect":{"value":{"ge":1000000}}} */
		r = rdpmc(e_map);
		expect(r.value >= 1000000, r.value);

		/* {"read":"e","expect":{"value":{"between":["$r.value","$r.value+1000000"]}}} */
		e_now = read_e_values((int)e, NULL, 65536);
		expect(e_now.value >= (uint64_t)r.value && e_now.value <= (uint64_t)(r.value+1000000), e_now.value);

		printf("PASS\n");
		must(!fflush(stdout));
		exit(0);
	}
	the_end = outlast(the_case);
	return the_end;
}
