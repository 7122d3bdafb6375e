/* SPDX-License-Identifier: MIT */
/*
 * count.tracepoint.sample-each.root.4
 * a tracepoint with a sample_period of n samples each n-th hit
 *
 * Man page: perf_event_open(2), PERF_TYPE_TRACEPOINT
 * Kernel: perf_tp_event
 * Since: Linux 2.6.31
 * Needs (perfabi help tokens): !compat, tracepoint.syscalls:sys_enter_getppid
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
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
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

/* Says what a call did, which must be what was expected; what it returned. */
static long answer(const char *call, long ret, int expected, const char *name)
{
	int got = ret < 0 ? errno : 0;

	printf("%s\n\texpected %s, got %s\n", call, name, got ? strerror(got) : "success");
	if (got != expected)
		fail(got);
	return ret;
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

/* Whether tracefs has SYSTEM:EVENT. */
static int has_tracepoint(const char *name)
{
	int tracefs = open_tracefs(), is_there;
	char path[256], *colon;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/events/%s/id", tracefs, name);
	colon = strchr(path, ':');
	if (colon)
		*colon = '/';
	is_there = !access(path, R_OK);
	close(tracefs);
	return is_there;
}

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

/* Its id in tracefs. */
static uint64_t tracepoint(const char *name)
{
	int tracefs = open_tracefs();
	char path[256];
	uint64_t id;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/events/%s/id", tracefs, name);
	if (access(path, R_OK))
		printf("mount -t tracefs nodev /sys/kernel/tracing, and see that it has events/%s\n", name);
	id = number_in(path);
	close(tracefs);
	return id;
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

/* The case. */

struct e_record {
	uint64_t type;
	uint64_t misc;
	uint64_t size;
	uint64_t tid;
	uint64_t value;
};

struct e_values {
	uint64_t bytes;
	uint64_t value;
};

static uint64_t syscalls_sys_enter_getppid;
static uint64_t e;
static void *e_map;
static uint64_t e_map_length;
static struct e_record *e_records;
static uint64_t e_records_nr;
static struct e_values e_now;

static void parse_e_record(const unsigned char *begin, struct e_record *r)
{
	const struct perf_event_header *header = (const void *)begin;
	const unsigned char *p = begin + sizeof(*header);
	const unsigned char *end = begin + header->size - 0; /* sample_id */
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
	case 8: { /* PERF_RECORD_READ */
		p += 4; /* pid */
		r->tid = take32(&p);
		r->value = take64(&p);
		break;
	}
	case 9: { /* PERF_RECORD_SAMPLE */
		end = begin + r->size;
		p += 4; /* pid */
		r->tid = take32(&p);
		break;
	}
	default:
		p = end;
	}
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
	must_have(has_tracepoint("syscalls:sys_enter_getppid"), "tracepoint.syscalls:sys_enter_getppid");
	syscalls_sys_enter_getppid = tracepoint("syscalls/sys_enter_getppid");

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_TRACEPOINT,
			.size = ATTR_SIZE,
			.config = syscalls_sys_enter_getppid,
			.sample_period = 4,
			.sample_type = PERF_SAMPLE_TID,
			.disabled = 1,
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"mmap":"e","pages":8} */
	e_map_length = (1 + 8) * page_size();
	e_map = expect_map(mmap(NULL, e_map_length, PROT_READ | PROT_WRITE, MAP_SHARED, (int)e, 0), 0);

	/* {"workload":"syscall","times":30,"counted":"e"} */
	must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	must(!ioctl((int)e, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
	for (uint64_t i = 0; i < 30; i++)
		syscall(SYS_getppid);
	must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));

	/* {"records":"e","expect":{"length":7}} */
	e_records = read_e_records(e_map, UINT64_MAX, false, &e_records_nr);
	expect(e_records_nr == 7, e_records_nr);

	/* {"read":"e","expect":{"value":30}} */
	e_now = read_e_values((int)e, NULL, 65536);
	expect(e_now.value == 30, e_now.value);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
