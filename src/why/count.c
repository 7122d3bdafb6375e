/* SPDX-License-Identifier: MIT */
/*
 * Counting an event for a moment: what comes of it beside a load of known make.
 */
#include "why/count.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/attr.h"

/*
 * The load is a bit of everything: instructions, system calls, page faults, switches, on the cpu
 * that the event is on.
 */

enum { SPINS = 10000000, SYSCALLS = 200, PAGES = 64, SWITCHES = 20, NAP = 50000 /* ns */ };
enum { DATA_PAGES = 64 };

/* An event that is open, with its buffer where it could be mapped. */
struct open_event {
	int fd;
	unsigned char *buffer; /* NULL: none */
	size_t size;           /* of its data, in bytes */
};

/* The cpus before the load was put on one. */
struct stand {
	cpu_set_t cpus;
	bool was_moved;
};

/* The call with both times in what read(2) gives, and nothing else beside the value. */
static int open_to_count(const struct call *call, const struct environment *env)
{
	const struct abi_family *format = abi_family(env->abi, "read_format");
	uint64_t times = abi_value(format, "total_time_enabled", NULL)->value |
			 abi_value(format, "total_time_running", NULL)->value;
	struct answer answer = {.fd = -1};
	struct call copy = {0};

	call_copy(&copy, call, env->abi);
	attr_set(abi_field(env->abi, "read_format"), copy.image, host_order(), times);
	if (call_issue(&copy, env, &answer))
		answer.fd = -1;
	call_free(&copy);
	return answer.fd;
}

/* Puts the process where the event is. False: it cannot run there. */
static bool stand_on(int cpu, struct stand *stand)
{
	cpu_set_t one;

	*stand = (struct stand){0};
	if (cpu < 0)
		return true;
	if (cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(stand->cpus), &stand->cpus))
		return false;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	stand->was_moved = !sched_setaffinity(0, sizeof(one), &one);
	return stand->was_moved;
}

static void touch_pages(const struct environment *env, struct counted *out)
{
	size_t size = PAGES * (size_t)env->page_size;
	volatile unsigned char *at =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return;
	for (size_t i = 0; i < size; i += env->page_size)
		at[i] = 1;
	munmap((void *)at, size);
	out->faults += PAGES;
}

static void load(const struct environment *env, struct counted *out)
{
	const struct timespec nap = {.tv_nsec = NAP};

	for (volatile unsigned i = 0; i < SPINS; i++)
		;
	for (unsigned i = 0; i < SYSCALLS; i++)
		out->syscalls += syscall(SYS_getppid) > 0;
	touch_pages(env, out);
	for (unsigned i = 0; i < SWITCHES; i++)
		out->switches += !nanosleep(&nap, NULL);
}

/* value, time_enabled and time_running; an event in an error state gives nothing. */
static bool read_times(const struct open_event *event, struct counted *out)
{
	uint64_t words[3];
	ssize_t n = read(event->fd, words, sizeof(words));

	out->is_error = !n;
	if (n != sizeof(words))
		return !n;
	out->value = words[0];
	out->enabled = words[1];
	out->running = words[2];
	return true;
}

static void count_records(const struct open_event *event, const struct environment *env,
			  struct counted *out)
{
	const struct perf_event_mmap_page *page = (const void *)event->buffer;
	const unsigned char *data = event->buffer ? event->buffer + env->page_size : NULL;
	uint64_t head = data ? __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) : 0;
	uint64_t at = 0;

	out->has_samples = data && head <= event->size; /* written backward, it runs below 0 */
	while (out->has_samples && at < head) {
		struct perf_event_header header;

		memcpy(&header, data + at, sizeof(header));
		if (header.size < sizeof(header))
			return;
		out->samples += header.type == PERF_RECORD_SAMPLE;
		out->throttled += header.type == PERF_RECORD_THROTTLE;
		at += header.size;
	}
}

bool count_event(const struct call *call, const struct environment *env, struct counted *out)
{
	struct open_event event = {.fd = -1};
	void *at = MAP_FAILED;
	struct stand stand;
	bool good;

	*out = (struct counted){0};
	if (call->pid > 0 ||
	    call->flags & abi_value(abi_family(env->abi, "open_flags"), "pid_cgroup", NULL)->value)
		return false;
	event.fd = open_to_count(call, env);
	if (event.fd < 0)
		return false;
	if (call_field(call, env->abi, "sample_period"))
		at = mmap(NULL, (1 + DATA_PAGES) * (size_t)env->page_size, PROT_READ | PROT_WRITE,
			  MAP_SHARED, event.fd, 0);
	event.buffer = at == MAP_FAILED ? NULL : at;
	event.size = DATA_PAGES * (size_t)env->page_size;
	good = stand_on(call->cpu, &stand) || call->pid == 0;
	/* A member counts only with its leader. */
	if (call->group_fd >= 0)
		ioctl(call->group_fd, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(event.fd, PERF_EVENT_IOC_ENABLE, 0);
	load(env, out);
	ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0);
	if (stand.was_moved)
		sched_setaffinity(0, sizeof(stand.cpus), &stand.cpus);
	good = read_times(&event, out) && good;
	count_records(&event, env, out);
	if (event.buffer)
		munmap(event.buffer, event.size + env->page_size);
	close(event.fd);
	return good;
}
