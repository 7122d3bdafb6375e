/* SPDX-License-Identifier: MIT */
/*
 * pmu.uprobe.offset-outside.root.far
 * a uprobe at an offset behind the file's end is refused
 *
 * Man page: perf_event_open(2), kprobe and uprobe
 * Kernel: perf_uprobe_event_init, perf_uprobe_init
 * Since: Linux 4.17
 * Needs (perfabi help tokens): pmu.uprobe
 *
 *     cc -Wall -Wextra -Werror -pthread -o case case.c && sudo ./case
 *
 * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it
 * cannot be tried like this. Written by `perfabi show --c`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* sizeof(struct perf_event_attr) of Linux 7.3, and the room that it is passed in. */
enum { ATTR_SIZE = 144, ATTR_ROOM = ATTR_SIZE };

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

/* What is not under test: if it fails, the program can say nothing. */
#define must(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			perror(#condition);                                                        \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

/* An anonymous file of so many zero bytes. */
static uint64_t memfd(uint64_t size)
{
	int fd = memfd_create("perfabi", MFD_CLOEXEC);

	must(fd >= 0 && !ftruncate(fd, (off_t)size));
	return (uint64_t)fd;
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

/* The case. */

static uint64_t f;
static uint64_t path;

int main(void)
{
	alarm(300);
	must_be_root();
	must_have(opens_reach_kernel(), "perf_event_open");
	must_have(file_is_there("/sys/bus/event_source/devices/uprobe"), "pmu.uprobe");

	/* {"memfd":4096,"bind":"f"} */
	f = memfd(4096);

	/* {"string":"/proc/self/fd/$f","bind":"path"} */
	path = repeated(text_of("/proc/self/fd/%llu", (unsigned long long)(f)), 1, "");

	/* open */
	{
		union attr attr = {.attr = {
			.type = number_in("/sys/bus/event_source/devices/uprobe/type"),
			.size = ATTR_SIZE,
			.disabled = 1,
			.uprobe_path = path,
			.probe_offset = UINT64_C(1) << 40,
		}};
		union attr before = attr;
		expect_errno(open_event(&attr, 0, -1, -1, 0), EINVAL);
		expect(!memcmp(&attr, &before, sizeof(attr)), attr.attr.size);
	}

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
