/* SPDX-License-Identifier: MIT */
/*
 * Workloads. Each is readied first: what is counted touches no memory of its own that was not
 * touched before.
 */
#ifndef PERFABI_RUNTIME_WORKLOAD_H
#define PERFABI_RUNTIME_WORKLOAD_H

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * On 32-bit arm what is probed, and who calls it, is ARM code: the kernel probes no Thumb
 * (arch_uprobe_analyze_insn()), and returns from what it probes to no Thumb
 * (arch_uretprobe_hijack_return_addr()).
 */
#if defined(__arm__)
#define PROBEABLE __attribute__((noinline, used, target("arm")))
#else
#define PROBEABLE __attribute__((noinline, used))
#endif

/* A uprobe is put on its first instruction, so it must be there, and called, as written. */
PROBEABLE static void probed(void)
{
	__asm__ volatile("nop\n\tnop\n\tnop\n\tnop" ::: "memory");
}

/* The same, with an instruction that the kernel steps in a place of its own, where it emulates a
 * nop. */
PROBEABLE static void stepped(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("xorl %%eax, %%eax" ::: "eax", "memory");
#elif defined(__aarch64__)
	__asm__ volatile("mov x9, #0" ::: "x9", "memory");
#else
	__asm__ volatile("nop" ::: "memory");
#endif
}

/* It ends in a jump to stepped(), where the compiler makes one of it. */
PROBEABLE static void jumping(void)
{
	__asm__ volatile("nop" ::: "memory");
	stepped();
}

PROBEABLE static void call_probed(uint64_t times)
{
	for (uint64_t i = 0; i < times; i++) {
		probed();
		jumping();
	}
}

/* Machine code of the case's own: a function without arguments. */
static void call_code(uint64_t at, uint64_t times)
{
	for (uint64_t i = 0; i < times; i++)
		((void (*)(void))(uintptr_t)at)();
}

enum nest_end { NEST_RETURN, NEST_FORK, NEST_JUMP, NEST_EXIT, NEST_FAULT };

/* Calls of one function by itself, and what the innermost does. */
struct nesting {
	uint64_t depth;
	enum nest_end end;
	volatile unsigned char *page; /* a new one */
	pid_t child;                  /* of NEST_FORK; 0 in itself */
	jmp_buf out;
	void *volatile frame;
};

PROBEABLE static void nest_ends(struct nesting *n)
{
	if (n->end == NEST_FORK)
		n->child = fork();
	else if (n->end == NEST_JUMP)
		longjmp(n->out, 1);
	else if (n->end == NEST_EXIT)
		_exit(0);
	else if (n->end == NEST_FAULT)
		*n->page = 1;
}

/* It has a frame, so that a callchain finds its callers, and does something after each call, or
 * that would be a jump. */
PROBEABLE static void nested(struct nesting *n)
{
	n->frame = __builtin_frame_address(0);
	if (--n->depth)
		nested(n);
	else
		nest_ends(n);
	n->frame = NULL;
}

/* A child that was made in there comes back as its parent does, and ends here. */
PROBEABLE static int nest(uint64_t depth, enum nest_end end, unsigned char *page)
{
	struct nesting n = {.depth = depth, .end = end, .page = page, .child = -1};
	int status = 0;

	if (!setjmp(n.out))
		nested(&n);
	if (!n.child)
		_exit(0);
	if (end == NEST_FORK && (n.child < 0 || waitpid(n.child, &status, 0) < 0))
		return -1;
	if (status)
		errno = ECHILD; /* it did not come back */
	return status ? -1 : 0;
}

/* The first is what a uprobe's reference counter counts in, with its low 16 bits; for the second it
 * has a place in the file. */
static volatile uint64_t probe_counter[2] = {0, 1};

/* The build ID in hexadecimal; empty where the linker wrote none. */
enum { BUILD_ID_TEXT = 2 * 20 + 1 };

struct function {
	uint64_t address, offset, counter, counter_offset;
	char path[256], build_id[BUILD_ID_TEXT];
};

/* Looks for it in the notes of the program, which comes first; they lie in memory. */
static int look_for_build_id(struct dl_phdr_info *info, size_t size, void *out)
{
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const unsigned char *at = (const unsigned char *)info->dlpi_addr + header->p_vaddr;
		size_t left = header->p_type == PT_NOTE ? header->p_memsz : 0;
		ElfW(Nhdr) note;

		for (size_t n; left >= sizeof(note); at += n, left -= n) {
			const unsigned char *id;

			memcpy(&note, at, sizeof(note));
			id = at + sizeof(note) + (((size_t)note.n_namesz + 3) & ~(size_t)3);
			n = (size_t)(id - at) + (((size_t)note.n_descsz + 3) & ~(size_t)3);
			if (n > left)
				break;
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
			    memcmp(at + sizeof(note), "GNU", sizeof("GNU")))
				continue;
			for (size_t b = 0; b < note.n_descsz && 2 * b + 2 < BUILD_ID_TEXT; b++)
				snprintf((char *)out + 2 * b, 3, "%02x", id[b]);
		}
	}
	return 1;
}

static void build_id_of(char text[BUILD_ID_TEXT])
{
	text[0] = '\0';
	dl_iterate_phdr(look_for_build_id, text);
}

/* Where in the program's file an address of it is, and the file's path; empty where it is in none.
 */
static uint64_t place_in_file(uint64_t address, char file[256])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to, at;
	char line[512], path[256];
	uint64_t place = 0;

	file[0] = '\0';
	while (maps && !file[0] && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &from, &to, &at, path) != 4 ||
		    address < from || address >= to)
			continue;
		place = address - from + at;
		memcpy(file, path, sizeof(path));
	}
	if (maps)
		fclose(maps);
	return place;
}

enum probeable { PROBED, STEPPED, NESTED, JUMPING };

/* Where a function and the counter are: in memory, and in the program's file. */
static int find_function(enum probeable which, struct function *f)
{
	const uintptr_t at[] = {[PROBED] = (uintptr_t)probed,
				[STEPPED] = (uintptr_t)stepped,
				[NESTED] = (uintptr_t)nested,
				[JUMPING] = (uintptr_t)jumping};
	const uint64_t low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 6 : 0; /* the low 16 bits */

	*f = (struct function){.address = at[which], .counter = (uintptr_t)probe_counter};
	f->counter_offset = place_in_file(f->counter, f->path) + low;
	f->offset = place_in_file(f->address, f->path);
	build_id_of(f->build_id);
	if (!f->path[0])
		errno = ENOENT;
	return f->path[0] ? 0 : -1;
}

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* How often this thread has left the cpu: of its own accord, and in all. */
struct switches {
	uint64_t voluntary, all;
};

static struct switches switches(void)
{
	struct rusage usage = {0};

	getrusage(RUSAGE_THREAD, &usage);
	return (struct switches){(uint64_t)usage.ru_nvcsw,
				 (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw};
}

/*
 * The cpu time of one short loop; 0 if the task left the cpu meanwhile. A task that comes to a cpu
 * is charged from the scheduler's last look at its clock, which can be milliseconds ago on a
 * virtual machine (rq_clock_skip_update()): that is time in which no event of the task was on.
 * The loop is long beside the calls around it: a timer whose period is so many of both, to the
 * instruction on an emulated machine, would else find the kernel each time.
 */
static uint64_t spin_once(void)
{
	const uint64_t left = switches().all, begun = cpu_time();
	uint64_t ended;

	for (volatile int i = 0; i < 10000; i++)
		;
	ended = cpu_time();
	return switches().all == left ? ended - begun : 0;
}

static void sleep_for(uint64_t ms)
{
	nanosleep(&(struct timespec){(time_t)(ms / 1000), (long)(ms % 1000 * 1000000)}, NULL);
}

/* A word of so many bytes, each by one instruction: of eight bytes a 32-bit processor has one for
 * numbers with a point alone. */
static void store_words(uint64_t address, uint64_t size, uint64_t times)
{
	const uintptr_t at = (uintptr_t)address;

	for (uint64_t i = 0; i < times; i++) {
		if (size == 1)
			*(volatile uint8_t *)at = (uint8_t)i;
		else if (size == 2)
			*(volatile uint16_t *)at = (uint16_t)i;
		else if (size == 4)
			*(volatile uint32_t *)at = (uint32_t)i;
		else if (sizeof(long) == 8)
			*(volatile uint64_t *)at = i;
		else
			*(volatile double *)at = (double)i;
	}
}

static void load_words(uint64_t address, uint64_t size, uint64_t times)
{
	const uintptr_t at = (uintptr_t)address;

	for (uint64_t i = 0; i < times; i++) {
		if (size == 1)
			(void)*(volatile uint8_t *)at;
		else if (size == 2)
			(void)*(volatile uint16_t *)at;
		else if (size == 4)
			(void)*(volatile uint32_t *)at;
		else if (sizeof(long) == 8)
			(void)*(volatile uint64_t *)at;
		else
			(void)*(volatile double *)at;
	}
}

/*
 * Where the scheduler's clock moves in steps of milliseconds, no time would have passed for the
 * event: its times go by the same clock.
 */
static void await_clock(uint64_t begun)
{
	for (int i = 0; i < 1000000 && cpu_time() == begun; i++)
		;
}

/* Memory to be touched. */
struct pages {
	unsigned char *at;
	size_t count, size; /* the size of one */
};

/* Fresh pages, small ones, for a huge one would be one fault. */
static int ready_pages(struct pages *p, uint64_t count)
{
	*p = (struct pages){.count = (size_t)count, .size = (size_t)sysconf(_SC_PAGESIZE)};
	await_clock(0); /* itself is no fault then */
	p->at = mmap(NULL, p->count * p->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (p->at == MAP_FAILED)
		return -1;
	madvise(p->at, p->count * p->size, MADV_NOHUGEPAGE);
	return 0;
}

/* Pages of a file that are in the page cache, each mapped when it is touched. */
static int ready_file_pages(struct pages *p, uint64_t count)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)count * page;
	const int fd = (int)syscall(SYS_memfd_create, "perfabi-pages", 1U);

	await_clock(0);
	if (fd < 0 || ftruncate(fd, (off_t)size))
		return -1;
	*p = (struct pages){mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
			    (size_t)count, page};
	close(fd);
	if (p->at == MAP_FAILED)
		return -1;
	madvise(p->at, size, MADV_RANDOM);
	return 0;
}

static void touch_each(const struct pages *p)
{
	const uint64_t begun = cpu_time();

	for (size_t i = 0; i < p->count; i++)
		*(volatile unsigned char *)(p->at + i * p->size) = 1;
	await_clock(begun);
}

/*
 * Leaves the cpu by sleeping: once a time, unless the task is preempted on the way there for so
 * long that the timer fires first. Such a sleep does not count. How often it left it, for whatever
 * reason.
 */
static uint64_t leave_cpu(uint64_t times)
{
	const struct switches before = switches();
	const uint64_t goal = before.voluntary + times;

	for (uint64_t i = 0; i < 100 * times && switches().voluntary < goal; i++)
		sleep_for(1);
	return switches().all - before.all;
}

static cpu_set_t migrates_between[2];

/* Runs on the first of two cpus of those that this process may use; a second time they are the same
 * two, as it is bound to one of them by then. */
static int ready_to_migrate(void)
{
	size_t found = CPU_COUNT(&migrates_between[1]) ? 2 : 0;
	cpu_set_t all;

	if (sched_getaffinity(0, sizeof(all), &all))
		return -1;
	for (size_t cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&migrates_between[found]);
		CPU_SET(cpu, &migrates_between[found++]);
	}
	if (found < 2) {
		errno = ENODEV;
		return -1;
	}
	return sched_setaffinity(0, sizeof(cpu_set_t), &migrates_between[0]);
}

static int migrate(uint64_t times)
{
	int err = 0;

	for (uint64_t i = 0; i < times; i++)
		if (sched_setaffinity(0, sizeof(cpu_set_t), &migrates_between[(i + 1) & 1]))
			err = -1;
	return err;
}

enum map_kind { OF_ANONYMOUS, OF_MEMFD, OF_FILE };

/* What is mapped, and where. */
struct mapped {
	uint64_t address, length, maj, min, ino;
	int fd;
};

static int ready_map(struct mapped *m, enum map_kind kind, const char *name, uint64_t length)
{
	struct stat st = {0};

	*m = (struct mapped){.length = length, .fd = -1};
	if (kind == OF_ANONYMOUS)
		return 0;
	m->fd = kind == OF_MEMFD ? (int)syscall(SYS_memfd_create, name, 1U /* MFD_CLOEXEC */)
				 : open(name, O_RDONLY | O_CLOEXEC);
	if (m->fd < 0 || (kind == OF_MEMFD && ftruncate(m->fd, (off_t)length)) || fstat(m->fd, &st))
		return -1;
	m->maj = major(st.st_dev);
	m->min = minor(st.st_dev);
	m->ino = st.st_ino;
	return 0;
}

static int map_it(struct mapped *m, int prot, int flags, uint64_t offset)
{
	void *at = mmap(NULL, (size_t)m->length, prot, flags | (m->fd < 0 ? MAP_ANONYMOUS : 0),
			m->fd, (off_t)offset);

	m->address = (uintptr_t)at;
	return at == MAP_FAILED ? -1 : 0;
}

/* By brk(2) itself: not every libc has sbrk(3). Nothing is put there. */
static int grow_heap(uint64_t length)
{
	const long end = syscall(SYS_brk, 0L) + (long)length;

	if (syscall(SYS_brk, end) == end)
		return 0;
	errno = ENOMEM;
	return -1;
}

#endif
