/* SPDX-License-Identifier: MIT */
/*
 * records.mmap.mmap2.root
 * MMAP2 says device, inode, protection and flags
 *
 * Man page: perf_event_open(2), PERF_RECORD_MMAP
 * Kernel: perf_event_mmap
 * Since: Linux 3.16
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

/* sizeof(struct perf_event_attr) of Linux 7.3, and the room that it is passed in. */
enum { ATTR_SIZE = 144, ATTR_ROOM = ATTR_SIZE };

struct mapped {
	uint64_t address, length, maj, min, ino;
	int fd;
};

static uint64_t take32(const unsigned char **p)
{
	uint32_t number;

	memcpy(&number, *p, sizeof(number));
	*p += sizeof(number);
	return number;
}

static uint64_t take64(const unsigned char **p)
{
	uint64_t number;

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

static uint64_t take8(const unsigned char **p)
{
	uint8_t number;

	memcpy(&number, *p, sizeof(number));
	*p += sizeof(number);
	return number;
}

static uint64_t take16(const unsigned char **p)
{
	uint16_t number;

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

static void *mapped_at(const char *call, void *at, int expected, const char *name)
{
	answer(call, at == MAP_FAILED ? -1 : 0, expected, name);
	return at;
}

/* The same of mmap(2), which returns an address. */
#define expect_map(call, expected)                                                                 \
	mapped_at(#call, (call), expected, expected ? #expected : "success")

static struct mapped map_open(int fd, uint64_t length)
{
	struct stat st;

	must(!fstat(fd, &st));
	return (struct mapped){.length = length, .fd = fd, .maj = major(st.st_dev),
			       .min = minor(st.st_dev), .ino = st.st_ino};
}

static struct mapped map_memfd(const char *name, uint64_t length)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	must(fd >= 0 && !ftruncate(fd, (off_t)length));
	return map_open(fd, length);
}

static void map_it(struct mapped *m, int prot, int flags)
{
	void *at = mmap(NULL, m->length, prot, flags | (m->fd < 0 ? MAP_ANONYMOUS : 0), m->fd, 0);

	must(at != MAP_FAILED);
	m->address = (uintptr_t)at;
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

static uint64_t thread_id(void)
{
	return (uint64_t)syscall(SYS_gettid);
}

static void compared_text(const char *condition, bool is_true, const char *got)
{
	printf("expected %s\n\tgot \"%s\"\n", condition, got);
	if (!is_true)
		fail(0);
}

/* A promise about a text. */
#define expect_text(condition, got) compared_text(#condition, (condition) != 0, got)

/* The case. */

struct e_record {
	uint64_t type;
	uint64_t misc;
	uint64_t size;
	uint64_t pid;
	uint64_t tid;
	uint64_t addr;
	uint64_t len;
	uint64_t pgoff;
	const char *filename;
	bool has_maj;
	uint64_t maj;
	bool has_min;
	uint64_t min;
	bool has_ino;
	uint64_t ino;
	uint64_t prot;
	uint64_t flags;
	const char *name;
	uint64_t sample_id_pid;
	uint64_t sample_id_tid;
};

static uint64_t e;
static void *e_map;
static uint64_t e_map_length;
static struct mapped m;
static struct e_record *e_records;
static uint64_t e_records_nr;

static void parse_e_record(const unsigned char *begin, struct e_record *r)
{
	const struct perf_event_header *header = (const void *)begin;
	const unsigned char *p = begin + sizeof(*header);
	const unsigned char *end = begin + header->size - 8; /* sample_id */
	uint64_t n = 0;

	r->type = header->type;
	r->misc = header->misc;
	r->size = header->size;
	switch (r->type) {
	case 1: { /* PERF_RECORD_MMAP */
		r->pid = take32(&p);
		r->tid = take32(&p);
		r->addr = take64(&p);
		r->len = take64(&p);
		r->pgoff = take64(&p);
		r->filename = (const char *)p;
		well_formed(is_padded(p, end), "a text, and less than 8 zeros behind it");
		p = end;
		break;
	}
	case 8: { /* PERF_RECORD_READ */
		r->pid = take32(&p);
		r->tid = take32(&p);
		p += 8; /* value */
		break;
	}
	case 9: { /* PERF_RECORD_SAMPLE */
		end = begin + r->size;
		r->pid = take32(&p);
		r->tid = take32(&p);
		break;
	}
	case 10: { /* PERF_RECORD_MMAP2 */
		r->pid = take32(&p);
		r->tid = take32(&p);
		r->addr = take64(&p);
		r->len = take64(&p);
		r->pgoff = take64(&p);
		if ((r->misc & 0x4000) == 0x4000) {
			uint64_t build_id_size = take8(&p);
			(void)build_id_size;
			p += 3;
			n = 20;
			p += n;
		} else {
			r->has_maj = true;
			r->maj = take32(&p);
			r->has_min = true;
			r->min = take32(&p);
			r->has_ino = true;
			r->ino = take64(&p);
			p += 8; /* ino_generation */
		}
		uint64_t prot = take32(&p);
		(void)prot;
		r->prot = prot;
		r->flags = take32(&p);
		r->filename = (const char *)p;
		well_formed(is_padded(p, end), "a text, and less than 8 zeros behind it");
		p = end;
		break;
	}
	case 17: { /* PERF_RECORD_KSYMBOL */
		r->addr = take64(&p);
		r->len = take32(&p);
		p += 2; /* ksym_type */
		r->flags = take16(&p);
		r->name = (const char *)p;
		well_formed(is_padded(p, end), "a text, and less than 8 zeros behind it");
		p = end;
		break;
	}
	default:
		p = end;
	}
	if (r->type == PERF_RECORD_SAMPLE) {
		well_formed(p == begin + header->size, "fields that take all of a record");
		return;
	}
	r->sample_id_pid = take32(&p);
	r->sample_id_tid = take32(&p);
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
			.config = PERF_COUNT_SW_DUMMY,
			.sample_type = PERF_SAMPLE_TID,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.mmap = 1,
			.sample_id_all = 1,
			.mmap2 = 1,
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"mmap":"e","pages":1} */
	e_map_length = (1 + 1) * page_size();
	e_map = expect_map(mmap(NULL, e_map_length, PROT_READ | PROT_WRITE, MAP_SHARED, (int)e, 0), 0);

	/* workload */
	m = map_memfd("two", 2*page_size());
	map_it(&m, PROT_READ | PROT_EXEC, MAP_PRIVATE);

	/* records */
	e_records = read_e_records(e_map, UINT64_MAX, false, &e_records_nr);
	expect(e_records_nr == 1, e_records_nr);
	expect(e_records[0].type == (uint64_t)(PERF_RECORD_MMAP2), e_records[0].type);
	expect(e_records[0].misc == (uint64_t)(PERF_RECORD_MISC_USER), e_records[0].misc);
	expect(e_records[0].pid == (uint64_t)(uint64_t)getpid(), e_records[0].pid);
	expect(e_records[0].tid == (uint64_t)thread_id(), e_records[0].tid);
	expect(e_records[0].addr == (uint64_t)m.address, e_records[0].addr);
	expect(e_records[0].len == (uint64_t)(2*page_size()), e_records[0].len);
	expect(e_records[0].pgoff == 0, e_records[0].pgoff);
	expect(e_records[0].maj == (uint64_t)m.maj, e_records[0].maj);
	expect(e_records[0].min == (uint64_t)m.min, e_records[0].min);
	expect(e_records[0].ino == (uint64_t)m.ino, e_records[0].ino);
	expect(e_records[0].prot == (uint64_t)(PROT_READ | PROT_EXEC), e_records[0].prot);
	expect(e_records[0].flags == (uint64_t)(MAP_PRIVATE), e_records[0].flags);
	expect_text(!strcmp(e_records[0].filename, "/memfd:two (deleted)"), e_records[0].filename);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
