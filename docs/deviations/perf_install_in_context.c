/* SPDX-License-Identifier: MIT */
/*
 * records.cgroup.cpu-beside-idle.root.later
 * an event of a cpu counts beside one of a cgroup that is not running there
 *
 * Man page: perf_event_open(2), pid == -1 and cpu >= 0; PERF_EVENT_IOC_ENABLE
 * Kernel: __perf_install_in_context, perf_install_in_context, __perf_event_enable
 * Since: Linux 2.6.39
 * Note: since 5.5 an event of the cpu that is opened after the cgroup's counts nothing. The 
 *  cgroup's event is added without making the cpu's context active. A disabled event that is 
 *  added then takes the context for active, because it has events, and enabling that event does 
 *  nothing
 * Needs (perfabi help tokens): config.CGROUP_PERF, since.attr.cgroup, quiet
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
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* sizeof(struct perf_event_attr) of Linux 7.3, and the room that it is passed in. */
enum { ATTR_SIZE = 144, ATTR_ROOM = ATTR_SIZE };

/* The cgroup of this program's own. */
struct cgroup {
	uint64_t fd, id;
	char path[320];
};

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

/* Whether the kernel was built with it, as y or m. */
static int has_config(const char *name)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "zcat -f /proc/config.gz /boot/config-$(uname -r) /lib/modules/$(uname -r)/config "
		 "2>/dev/null | grep -q '^CONFIG_%s=[ym]'",
		 name);
	return !system(line);
}

/* A kernel version as a number that orders as it does; NULL: this kernel's. */
static uint64_t version_of(const char *text)
{
	unsigned major = 0, minor = 0, patch = 0;
	struct utsname u = {0};

	if (!text)
		uname(&u);
	sscanf(text ? text : u.release, "%u.%u.%u", &major, &minor, &patch);
	return (uint64_t)major << 32 | (uint64_t)(minor & 0xffff) << 16 | (patch & 0xffff);
}

/* All that would end the program before it has set back what it changes, and SIGCHLD. */
static sigset_t kept_signals, signals_before;

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

static void keep_signals(void)
{
	static const int let[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGWINCH, SIGURG};

	sigfillset(&kept_signals);
	for (size_t i = 0; i < sizeof(let) / sizeof(let[0]); i++)
		sigdelset(&kept_signals, let[i]);
	must(!sigprocmask(SIG_BLOCK, &kept_signals, &signals_before));
}

/* Where a hierarchy is mounted: of v2, or of a controller of v1. */
static const char *cgroup_root(const char *controller)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	static char path[256];
	char type[32], options[512];

	must(mounts);
	while (fscanf(mounts, "%*s %255s %31s %511s %*d %*d", path, type, options) == 3) {
		const char *at = controller ? strstr(options, controller) : options;

		if (strcmp(type, controller ? "cgroup" : "cgroup2") || !at || access(path, F_OK))
			continue; /* or something else is mounted over it */
		fclose(mounts);
		return path;
	}
	printf("SKIP: no such cgroups are mounted\n");
	exit(4);
}

static struct cgroup cgroup_make(void)
{
	struct cgroup c;
	struct stat st;
	int fd;

	snprintf(c.path, sizeof(c.path), "%s/perfabi-case-%d", cgroup_root(NULL), (int)getpid());
	must(!mkdir(c.path, 0755));
	fd = open(c.path, O_RDONLY | O_CLOEXEC);
	must(fd >= 0 && !fstat(fd, &st));
	c.fd = (uint64_t)fd;
	c.id = st.st_ino;
	return c;
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

static void sleep_for(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

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

/* With the one that a case makes in it; what was in them is gone soon. */
static void cgroup_remove(const struct cgroup *c)
{
	char inner[352];

	snprintf(inner, sizeof(inner), "%s/inner", c->path);
	rmdir(inner);
	for (int i = 0; i < 100 && rmdir(c->path) && errno == EBUSY; i++)
		usleep(10000);
}

/* The case. */

struct e_values {
	uint64_t bytes;
	uint64_t value;
	uint64_t time_enabled;
	uint64_t time_running;
};

static struct cgroup cgroup_;
static uint64_t the_case;
static uint64_t e;
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
		r->time_enabled = take64(&p);
		r->time_running = take64(&p);
	}
	(void)p;
	return kept;
}

int main(void)
{
	alarm(300);
	must_be_root();
	must_have(opens_reach_kernel(), "perf_event_open");
	must_have(has_config("CGROUP_PERF"), "config.CGROUP_PERF");
	must_have(version_of(NULL) >= version_of("5.7"), "since.attr.cgroup");
	keep_signals();
	cgroup_ = cgroup_make();
	if (!(the_case = fork_child())) {
		let_signals();

		/* open */
		{
			union attr attr = {.attr = {
				.type = PERF_TYPE_SOFTWARE,
				.size = ATTR_SIZE,
				.config = PERF_COUNT_SW_DUMMY,
				.sample_type = 0,
				.exclude_kernel = 0,
				.exclude_hv = 0,
				.sample_id_all = 1,
				.cgroup = 0,
			}};
			union attr before = attr;
			expect_errno(open_event(&attr, (int)cgroup_.fd, 0, -1, PERF_FLAG_PID_CGROUP), 0);
			expect(!memcmp(&attr, &before, sizeof(attr)), attr.attr.size);
		}

		/* open */
		{
			union attr attr = {.attr = {
				.type = PERF_TYPE_SOFTWARE,
				.size = ATTR_SIZE,
				.config = PERF_COUNT_SW_CPU_CLOCK,
				.sample_type = 0,
				.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
				.disabled = 1,
				.exclude_kernel = 0,
				.exclude_hv = 0,
				.sample_id_all = 1,
				.cgroup = 0,
			}};
			e = (uint64_t)expect_errno(open_event(&attr, -1, 0, -1, 0), 0);
		}

		/* {"workload":"sleep","ms":10,"counted":"e"} */
		must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
		must(!ioctl((int)e, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
		sleep_for(10);
		must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));

		/* read */
		e_now = read_e_values((int)e, NULL, 65536);
		expect(e_now.time_enabled >= 9500000, e_now.time_enabled);
		expect(e_now.time_running >= 9500000, e_now.time_running);
		expect(e_now.value >= 9500000, e_now.value);

		printf("PASS\n");
		must(!fflush(stdout));
		exit(0);
	}
	the_end = outlast(the_case);
	cgroup_remove(&cgroup_);
	return the_end;
}
