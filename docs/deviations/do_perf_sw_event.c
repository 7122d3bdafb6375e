/* SPDX-License-Identifier: MIT */
/*
 * sample.values.two-events.root
 * two events that see the same fault each write their own id
 *
 * Man page: perf_event_open(2), PERF_RECORD_SAMPLE
 * Kernel: do_perf_sw_event
 * Since: Linux 2.6.31
 * Note: since 6.3 one perf_sample_data serves all software events of an occurrence, and the 
 *  others repeat what the first has filled in
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
	uint64_t tid;
	uint64_t id;
};

static uint64_t e;
static uint64_t e_id;
static void *e_map;
static uint64_t e_map_length;
static uint64_t f;
static uint64_t f_id;
static uint64_t value_1;
static uint64_t value_2;
static volatile unsigned char *memory_3;
static uint64_t value_4;
static uint64_t value_5;
static struct e_record *e_records;
static uint64_t e_records_nr;
static uint64_t fit_6;
static uint64_t fit_7;

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
	case 9: { /* PERF_RECORD_SAMPLE */
		end = begin + r->size;
		p += 4; /* pid */
		r->tid = take32(&p);
		r->id = take64(&p);
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

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = ATTR_SIZE,
			.config = PERF_COUNT_SW_PAGE_FAULTS,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_TID,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
		e_id = event_id(e);
	}

	/* {"mmap":"e","pages":4} */
	e_map_length = (1 + 4) * page_size();
	e_map = expect_map(mmap(NULL, e_map_length, PROT_READ | PROT_WRITE, MAP_SHARED, (int)e, 0), 0);

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = ATTR_SIZE,
			.config = PERF_COUNT_SW_PAGE_FAULTS,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_TID,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
		}};
		f = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
		f_id = event_id(f);
	}

	/* {"ioctl":"set_output","on":"f","arg":"$e"} */
	expect_errno(ioctl((int)f, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)e), 0);

	/* {"ioctl":"enable","on":"e"} */
	value_1 = 0;
	expect_errno(ioctl((int)e, PERF_EVENT_IOC_ENABLE, &value_1), 0);

	/* {"ioctl":"enable","on":"f"} */
	value_2 = 0;
	expect_errno(ioctl((int)f, PERF_EVENT_IOC_ENABLE, &value_2), 0);

	/* {"workload":"touch","pages":2} */
	memory_3 = fresh_pages(2);
	touch_pages(memory_3, 0); /* itself is no fault then */
	touch_pages(memory_3, 2);
	munmap((void *)memory_3, 2 * page_size());

	/* {"ioctl":"disable","on":"f"} */
	value_4 = 0;
	expect_errno(ioctl((int)f, PERF_EVENT_IOC_DISABLE, &value_4), 0);

	/* {"ioctl":"disable","on":"e"} */
	value_5 = 0;
	expect_errno(ioctl((int)e, PERF_EVENT_IOC_DISABLE, &value_5), 0);

	/* records */
	e_records = read_e_records(e_map, UINT64_MAX, false, &e_records_nr);
	fit_6 = 0;
	for (uint64_t i_6 = 0; i_6 < e_records_nr; i_6++) {
		fit_6 += (e_records[i_6].id == (uint64_t)e_id);
	}
	fit_7 = 0;
	for (uint64_t i_7 = 0; i_7 < e_records_nr; i_7++) {
		fit_7 += (e_records[i_7].id == (uint64_t)f_id);
	}
	expect(fit_6 >= 2 && fit_7 >= 2, e_records_nr);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
