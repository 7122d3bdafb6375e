/* SPDX-License-Identifier: MIT */
/*
 * count.uprobe.inherited-swapped.root
 * an inherited uprobe counts whether or not parent and child have swapped contexts
 *
 * Man page: perf_event_open(2), inherit
 * Kernel: uprobe_perf_filter
 * Since: Linux 4.17
 * Note: the probe's filter goes by the task that the event was made for, and a swap of contexts 
 *  (perf_event_context_sched_out) moves the event to the other task. Whose calls are lost is 
 *  luck, so the case has both call
 * Needs (perfabi help tokens): pmu.uprobe, pmu.uprobe
 *
 *     cc -Wall -Wextra -Werror -pthread -o case case.c && sudo ./case
 *
 * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it
 * cannot be tried like this. Written by `perfabi show --c`.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
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
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* sizeof(struct perf_event_attr) of Linux 7.3, and the room that it is passed in. */
enum { ATTR_SIZE = 144, ATTR_ROOM = ATTR_SIZE };

struct function {
	uint64_t address, offset;
	char path[256], build_id[48];
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

/* Of that memory, for what comes behind an exec. */
static int words_fd;

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

/* How often each word was posted, less how often it was awaited: in memory that children share. */
static struct {
	char name[32];
	uint32_t posted;
} *words_posted;

/* Each word has its place before anybody speaks of it; `fd` is of behind an exec. */
static void prepare_words(const char *const names[], const char *fd)
{
	words_fd = fd ? atoi(fd) : memfd_create("words", 0);
	must(words_fd >= 0 && !ftruncate(words_fd, 4096));
	if (!fd) { /* out of the way of what is opened */
		int low = words_fd;

		words_fd = fcntl(low, F_DUPFD, 900);
		must(words_fd >= 0);
		close(low);
	}
	words_posted = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, words_fd, 0);
	must(words_posted != MAP_FAILED);
	for (size_t i = 0; names[i]; i++)
		strcpy(words_posted[i].name, names[i]);
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

/* Whether there is such a file; * stands for any name. */
static int file_is_there(const char *path)
{
	return !glob(path, 0, NULL, &(glob_t){0});
}

/* This thread runs on that cpu alone. */
static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(!sched_setaffinity(0, sizeof(set), &set));
}

#if defined(__arm__)
#define PROBEABLE __attribute__((target("arm"))) /* the kernel probes no Thumb */
#else
#define PROBEABLE
#endif

/* A uprobe is put on its first instruction. */
PROBEABLE __attribute__((noinline, used)) static void probed(void)
{
	__asm__ volatile("nop\n\tnop\n\tnop\n\tnop" ::: "memory");
}

/* How often the task left the cpu: in what it did, and with the requests around that. */
struct left {
	uint64_t least, most;
};

enum { BUILD_ID_TEXT = 48 };

/* Looks for it in the notes of the first object, which is this program. */
static int look_for_build_id(struct dl_phdr_info *info, size_t size, void *text)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const unsigned char *at = (const void *)(info->dlpi_addr + header->p_vaddr);
		size_t left = header->p_type == PT_NOTE ? header->p_memsz : 0;
		ElfW(Nhdr) note;

		for (size_t n; left >= sizeof(note); at += n, left -= n) {
			const unsigned char *id;

			memcpy(&note, at, sizeof(note));
			id = at + sizeof(note) + (((size_t)note.n_namesz + 3) & ~(size_t)3);
			n = (size_t)(id - at) + (((size_t)note.n_descsz + 3) & ~(size_t)3);
			if (n > left)
				break;
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") || memcmp(at + sizeof(note), "GNU", sizeof("GNU")))
				continue;
			for (size_t b = 0; b < note.n_descsz && 2 * b + 2 < BUILD_ID_TEXT; b++)
				snprintf((char *)text + 2 * b, 3, "%02x", id[b]);
		}
	}
	return 1;
}

/* The build id of this program as text, in BUILD_ID_TEXT bytes, cut to fit; empty, if it was linked
 * without. */
static void build_id_of(char text[BUILD_ID_TEXT])
{
	text[0] = '\0';
	dl_iterate_phdr(look_for_build_id, text);
}

/* Where probed() is: in memory, and in the program's file. */
static struct function function_probed(void)
{
	struct function f = {.address = (uintptr_t)probed};
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to, at;
	char line[512];

	must(maps);
	while (!f.path[0] && fgets(line, sizeof(line), maps)) {
		char path[256];

		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &from, &to, &at, path) != 4 ||
		    f.address < from || f.address >= to)
			continue;
		f.offset = f.address - from + at;
		snprintf(f.path, sizeof(f.path), "%s", path);
	}
	fclose(maps);
	must(f.path[0]);
	build_id_of(f.build_id);
	return f;
}

/* The address of a text so many times, and another behind it. */
static uint64_t repeated(const char *text, size_t times, const char *end)
{
	char *all = calloc(times * strlen(text) + strlen(end) + 1, 1), *at = all;

	must(all);
	for (size_t i = 0; i < times; i++)
		at = stpcpy(at, text);
	strcpy(at, end);
	return (uintptr_t)all;
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

/* As long as the newest kernel's, whatever <linux/perf_event.h> this is. */
union attr {
	struct perf_event_attr attr;
	unsigned char bytes[ATTR_ROOM];
};

static uint64_t number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	long long number = 0;

	if (!f || fscanf(f, "%lld", &number) != 1) {
		perror(path);
		exit(3);
	}
	fclose(f);
	return (uint64_t)number;
}

/* A call that must succeed (0), or fail with that errno. */
#define expect_errno(call, expected) answer(#call, (call), expected, expected ? #expected : "success")

static long open_event(const void *attr, int pid, int cpu, int group_fd, unsigned long flags)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
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

static uint32_t *counter_of(const char *word)
{
	size_t i = 0;

	while (words_posted[i].name[0] && strcmp(words_posted[i].name, word) != 0)
		i++;
	must(words_posted[i].name[0]);
	return &words_posted[i].posted;
}

static void await(const char *word)
{
	uint32_t *counter = counter_of(word), have;

	while (true) {
		have = __atomic_load_n(counter, __ATOMIC_ACQUIRE);
		if (!have)
			syscall(SYS_futex, counter, FUTEX_WAIT, 0, NULL, NULL, 0);
		else if (__atomic_compare_exchange_n(counter, &have, have - 1, false,
						     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return;
	}
}

PROBEABLE static void call_probed(uint64_t times)
{
	for (uint64_t i = 0; i < times; i++)
		probed();
}

static void post(const char *word)
{
	uint32_t *counter = counter_of(word);

	__atomic_add_fetch(counter, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, counter, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* How a child ended, as waitpid(2) has it. */
static int reap(uint64_t pid)
{
	int status;

	while (waitpid((pid_t)pid, &status, 0) < 0)
		must(errno == EINTR);
	for (int i = 0; i < 32; i++)
		if (children[i] == (pid_t)pid)
			children[i] = 0;
	return status;
}

/* The end of a child, which must have found all as it should be. */
static void wait_for(uint64_t pid)
{
	int status = reap(pid);

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return;
	printf("expected the child to come to its end, got %s %d\n",
	       WIFEXITED(status) ? "exit status" : "signal",
	       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	if (WIFEXITED(status) && WEXITSTATUS(status) != 1)
		exit(WEXITSTATUS(status));
	fail(0);
}

/* Whoever is left ends well, too. */
static void end_children(void)
{
	for (int i = 0; i < 32; i++)
		if (children[i])
			wait_for((uint64_t)children[i]);
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

/* The case. */

struct e_values {
	uint64_t bytes;
	uint64_t value;
};

static struct function f;
static uint64_t path;
static uint64_t e;
static uint64_t value_1;
static uint64_t c;
static struct e_values e_now;

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
	prepare_words((const char *const[]){"done", "go", NULL}, NULL);
	must_be_root();
	must_have(opens_reach_kernel(), "perf_event_open");
	must_have(file_is_there("/sys/bus/event_source/devices/uprobe"), "pmu.uprobe");
	must_have(file_is_there("/sys/bus/event_source/devices/uprobe"), "pmu.uprobe");

	/* {"affinity":0} */
	run_on(0);

	/* {"function":"probed","bind":"f"} */
	f = function_probed();

	/* {"string":"$f.path","bind":"path"} */
	path = repeated(text_of("%s", f.path), 1, "");

	/* open */
	{
		union attr attr = {.attr = {
			.type = number_in("/sys/bus/event_source/devices/uprobe/type"),
			.size = ATTR_SIZE,
			.disabled = 1,
			.inherit = 1,
			.uprobe_path = path,
			.probe_offset = f.offset,
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"ioctl":"enable","on":"e"} */
	value_1 = 0;
	expect_errno(ioctl((int)e, PERF_EVENT_IOC_ENABLE, &value_1), 0);

	/* fork */
	c = fork_child();
	if (!c) {

		/* {"do":[{"await":"go"},{"workload":"call","times":1},{"post":"done"}],"repeat":100} */
		for (uint64_t i_2 = 0; i_2 < 100; i_2++) {

			/* {"await":"go"} */
			await("go");

			/* {"workload":"call","times":1} */
			call_probed(1);

			/* {"post":"done"} */
			post("done");
		}
		end_children(), exit(0);
	}

	/* {"do":[{"workload":"call","times":1},{"post":"go"},{"await":"done"}],"repeat":100} */
	for (uint64_t i_3 = 0; i_3 < 100; i_3++) {

		/* {"workload":"call","times":1} */
		call_probed(1);

		/* {"post":"go"} */
		post("go");

		/* {"await":"done"} */
		await("done");
	}

	/* {"wait":"c"} */
	wait_for(c);

	/* {"read":"e","expect":{"value":200}} */
	e_now = read_e_values((int)e, NULL, 65536);
	expect(e_now.value == 200, e_now.value);

	end_children();
	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
