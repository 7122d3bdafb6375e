/* SPDX-License-Identifier: MIT */
/*
 * sample.user.stack-none-in-the-middle.root
 * a user stack of size 0 takes no place of what comes behind it
 *
 * Man page: perf_event_open(2), sample_regs_user, sample_stack_user
 * Kernel: perf_output_sample_ustack
 * Since: Linux 3.7
 * Note: kernels write dyn_size all the same, 8 bytes that the record has no room for, so that 
 *  what comes behind is shifted
 * Needs (perfabi help tokens): arch.x86
 *
 *     cc -Wall -Wextra -Werror -pthread -o case case.c && sudo ./case
 *
 * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it
 * cannot be tried like this. Written by `perfabi show --c`.
 */
#define _GNU_SOURCE
#include <errno.h>
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
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* sizeof(struct perf_event_attr) of Linux 7.3, and the room that it is passed in. */
enum { ATTR_SIZE = 144, ATTR_ROOM = 1 << 17 };

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

/* Whether uname(2) has one of these names, a space around each. */
static int machine_is(const char *names)
{
	struct utsname u = {0};
	char name[sizeof(u.machine) + 2];

	uname(&u);
	snprintf(name, sizeof(name), " %s ", u.machine);
	return strstr(names, name) != NULL;
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

static void *mapped_at(const char *call, void *at, int expected, const char *name)
{
	answer(call, at == MAP_FAILED ? -1 : 0, expected, name);
	return at;
}

/* The same of mmap(2), which returns an address. */
#define expect_map(call, expected)                                                                 \
	mapped_at(#call, (call), expected, expected ? #expected : "success")

/* Pages that nobody has touched; small ones, for a huge one would be one fault. */
static volatile unsigned char *fresh_pages(uint64_t pages)
{
	size_t size = pages * page_size();
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(at != MAP_FAILED);
	madvise(at, size, MADV_NOHUGEPAGE);
	return at;
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

/* And until the clock has moved, where it moves in steps of milliseconds. */
static void touch_pages(volatile unsigned char *at, uint64_t pages)
{
	const uint64_t page = page_size(), begun = nanoseconds(CLOCK_THREAD_CPUTIME_ID);

	for (uint64_t i = 0; i < pages; i++)
		at[i * page] = 1;
	for (int i = 0; i < 1000000 && nanoseconds(CLOCK_THREAD_CPUTIME_ID) == begun; i++)
		;
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

struct e_record {
	uint64_t type;
	uint64_t misc;
	uint64_t size;
	bool has_stack_user;
	uint64_t stack_user_size;
	bool has_regs_intr;
	uint64_t regs_intr_abi;
};

static uint64_t e;
static void *e_map;
static uint64_t e_map_length;
static volatile unsigned char *memory_1;
static struct e_record *e_records;
static uint64_t e_records_nr;

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
		p += 4; /* tid */
		p += 8; /* addr */
		p += 8; /* len */
		p += 8; /* pgoff */
		well_formed(is_padded(p, end), "a text, and less than 8 zeros behind it");
		p = end;
		break;
	}
	case 9: { /* PERF_RECORD_SAMPLE */
		end = begin + r->size;
		r->has_stack_user = true;
		uint64_t stack_user_size = take64(&p);
		(void)stack_user_size;
		r->stack_user_size = stack_user_size;
		if (stack_user_size != 0) {
			n = stack_user_size;
			p += n;
			p += 8; /* dyn_size */
		}
		r->has_regs_intr = true;
		uint64_t regs_intr_abi = take64(&p);
		(void)regs_intr_abi;
		r->regs_intr_abi = regs_intr_abi;
		if (regs_intr_abi != 0) {
			p += 8;
		}
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

int main(void)
{
	alarm(300);
	must_be_root();
	must_have(opens_reach_kernel(), "perf_event_open");
	must_have(machine_is(" x86_64  i386  i486  i586  i686 "), "arch.x86");

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = ATTR_SIZE,
			.config = PERF_COUNT_SW_PAGE_FAULTS,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.sample_stack_user = 0,
			.sample_regs_intr = UINT64_C(0x100),
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"mmap":"e","pages":4} */
	e_map_length = (1 + 4) * page_size();
	e_map = expect_map(mmap(NULL, e_map_length, PROT_READ | PROT_WRITE, MAP_SHARED, (int)e, 0), 0);

	/* {"workload":"touch","pages":1,"counted":"e"} */
	memory_1 = fresh_pages(1);
	touch_pages(memory_1, 0); /* itself is no fault then */
	must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	must(!ioctl((int)e, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
	touch_pages(memory_1, 1);
	must(!ioctl((int)e, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	munmap((void *)memory_1, 1 * page_size());

	/* records */
	e_records = read_e_records(e_map, UINT64_MAX, false, &e_records_nr);
	expect(e_records_nr == 1, e_records_nr);
	expect(e_records[0].size == 32, e_records[0].size);
	expect(e_records[0].stack_user_size == 0, e_records[0].stack_user_size);
	expect(!(e_records[0].regs_intr_abi == (uint64_t)(PERF_SAMPLE_REGS_ABI_NONE)), e_records[0].regs_intr_abi);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
