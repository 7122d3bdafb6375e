/* SPDX-License-Identifier: MIT */
/*
 * records.bpf.two-events.root
 * two events with bpf_event each get a whole record of a BPF program
 *
 * Man page: perf_event_open(2), PERF_RECORD_BPF_EVENT
 * Kernel: perf_event_bpf_output
 * Since: Linux 5.1
 * Note: older kernels do not restore header.size between events, so that each further one's 
 *  record is longer by a sample_id that nobody wrote
 * Needs (perfabi help tokens): config.BPF_SYSCALL, since.attr.bpf_event, 
 *  case.machine.quiet.bpf|quiet
 *
 *     cc -Wall -Wextra -Werror -pthread -o case case.c && sudo ./case
 *
 * Exit status: 0 the kernel kept its word, 1 it did not, 3 something else failed, 4 it
 * cannot be tried like this. Written by `perfabi show --c`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

/* sizeof(struct perf_event_attr) of Linux 7.3, and the room that it is passed in. */
enum { ATTR_SIZE = 144, ATTR_ROOM = 1 << 17 };

struct bpf_program {
	uint64_t fd, id, type, address, length;
	char tag[17], name[17];
};

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

/* A program of that type that returns 0. */
static struct bpf_program bpf_load(uint32_t type)
{
	static const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					       {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr load = {.prog_type = type, .insn_cnt = 2, .insns = (uintptr_t)code,
			       .license = (uintptr_t)"GPL", .prog_name = "perfabi"};
	uint64_t address = 0;
	uint32_t length = 0;
	struct bpf_prog_info info = {.nr_jited_ksyms = 1, .jited_ksyms = (uintptr_t)&address,
				     .nr_jited_func_lens = 1,
				     .jited_func_lens = (uintptr_t)&length};
	union bpf_attr ask = {0};
	struct bpf_program p = {0};
	struct rlimit before, lifted = {RLIM_INFINITY, RLIM_INFINITY};
	int fd;

	must(!getrlimit(RLIMIT_MEMLOCK, &before));
	setrlimit(RLIMIT_MEMLOCK, &lifted); /* before 5.11 a program counts against it */
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
	setrlimit(RLIMIT_MEMLOCK, &before);
	must(fd >= 0);
	ask.info.bpf_fd = (uint32_t)fd;
	ask.info.info_len = sizeof(info);
	ask.info.info = (uintptr_t)&info;
	must(!syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &ask, sizeof(ask)));
	for (int i = 0; i < 8; i++)
		snprintf(p.tag + 2 * i, 3, "%02x", info.tag[i]);
	snprintf(p.name, sizeof(p.name), "%s", info.name);
	p.fd = (uint64_t)fd;
	p.id = info.id;
	p.type = info.type;
	p.address = address;
	p.length = length;
	return p;
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
	uint64_t sample_id_tid;
};

struct f_record {
	uint64_t type;
	uint64_t misc;
	uint64_t size;
	uint64_t tid;
	uint64_t id;
	uint64_t sample_id_tid;
};

static uint64_t e;
static void *e_map;
static uint64_t e_map_length;
static uint64_t f;
static void *f_map;
static uint64_t f_map_length;
static struct bpf_program p;
static struct e_record *e_records;
static uint64_t e_records_nr;
static struct f_record *f_records;
static uint64_t f_records_nr;

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
		break;
	}
	case 18: { /* PERF_RECORD_BPF_EVENT */
		p += 2; /* bpf_type */
		p += 2; /* flags */
		r->id = take32(&p);
		n = 8;
		p += n;
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

static void parse_f_record(const unsigned char *begin, struct f_record *r)
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
		break;
	}
	case 18: { /* PERF_RECORD_BPF_EVENT */
		p += 2; /* bpf_type */
		p += 2; /* flags */
		r->id = take32(&p);
		n = 8;
		p += n;
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
	well_formed(p == begin + header->size, "fields that take all of a record");
	(void)n;
	(void)p;
	(void)end;
}

/* What is new in the buffer, of the types whose bits are set. */
static struct f_record *read_f_records(void *map, uint64_t types, bool keep, uint64_t *nr)
{
	struct f_record *list;
	size_t size;
	unsigned char *at = copy_ring(map, keep, &size);

	list = calloc(size / sizeof(struct perf_event_header) + 16, sizeof(*list));
	must(list);
	*nr = 0;
	for (size_t n = 0; n < size; n += ((struct perf_event_header *)(void *)(at + n))->size)
		if (types >> ((struct perf_event_header *)(void *)(at + n))->type & 1)
			parse_f_record(at + n, &list[(*nr)++]);
	return list;
}

int main(void)
{
	alarm(300);
	must_be_root();
	must_have(opens_reach_kernel(), "perf_event_open");
	must_have(has_config("BPF_SYSCALL"), "config.BPF_SYSCALL");
	must_have(version_of(NULL) >= version_of("5.1"), "since.attr.bpf_event");

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = ATTR_SIZE,
			.config = PERF_COUNT_SW_DUMMY,
			.sample_type = PERF_SAMPLE_TID,
			.exclude_kernel = 0,
			.exclude_hv = 0,
			.sample_id_all = 1,
			.bpf_event = 1,
		}};
		e = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"mmap":"e","pages":1} */
	e_map_length = (1 + 1) * page_size();
	e_map = expect_map(mmap(NULL, e_map_length, PROT_READ | PROT_WRITE, MAP_SHARED, (int)e, 0), 0);

	/* open */
	{
		union attr attr = {.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = ATTR_SIZE,
			.config = PERF_COUNT_SW_DUMMY,
			.sample_type = PERF_SAMPLE_TID,
			.exclude_kernel = 0,
			.exclude_hv = 0,
			.sample_id_all = 1,
			.bpf_event = 1,
		}};
		f = (uint64_t)expect_errno(open_event(&attr, 0, -1, -1, 0), 0);
	}

	/* {"mmap":"f","pages":1} */
	f_map_length = (1 + 1) * page_size();
	f_map = expect_map(mmap(NULL, f_map_length, PROT_READ | PROT_WRITE, MAP_SHARED, (int)f, 0), 0);

	/* {"bpf":"socket-filter","bind":"p"} */
	p = bpf_load(BPF_PROG_TYPE_SOCKET_FILTER);

	/* {"records":"e","expect":{"exactly":[{"type":"BPF_EVENT","size":32,"id":"$p.id"}]}} */
	e_records = read_e_records(e_map, UINT64_MAX, false, &e_records_nr);
	expect(e_records_nr == 1, e_records_nr);
	expect(e_records[0].type == (uint64_t)(PERF_RECORD_BPF_EVENT), e_records[0].type);
	expect(e_records[0].size == 32, e_records[0].size);
	expect(e_records[0].id == (uint64_t)p.id, e_records[0].id);

	/* {"records":"f","expect":{"exactly":[{"type":"BPF_EVENT","size":32,"id":"$p.id"}]}} */
	f_records = read_f_records(f_map, UINT64_MAX, false, &f_records_nr);
	expect(f_records_nr == 1, f_records_nr);
	expect(f_records[0].type == (uint64_t)(PERF_RECORD_BPF_EVENT), f_records[0].type);
	expect(f_records[0].size == 32, f_records[0].size);
	expect(f_records[0].id == (uint64_t)p.id, f_records[0].id);

	printf("PASS\n");
	must(!fflush(stdout));
	return 0;
}
