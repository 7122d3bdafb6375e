/* SPDX-License-Identifier: MIT */
/*
 * Each verb of `then` has rows for its members. The load that is counted is of known make.
 */
#include "why/why.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/attr.h"
#include "abi/value.h"
#include "model/predicate.h"
#include "text/doc.h"
#include "text/json_text.h"

enum { READ_MOST = 65536, POLL_MS = 100 };
#define PAGES_MOST (UINT64_C(1) << 40)

static int read_number(struct doc *d, const json_t *json, void *number, const struct where *w)
{
	struct value value;

	if (value_eval(json, NULL, NULL, w, &value, d->e))
		return -EINVAL;
	*(uint64_t *)number = value.bits;
	return 0;
}

/* `pages` of data and the first, or `length`. */
static int check_mmap(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	const struct environment *env = d->context;
	const json_t *pages = json_object_get(json, "pages");
	struct then_call *call = made;

	if (pages && call->pages >= PAGES_MOST)
		return error_value(d->e, w, pages, "fewer than 1<<40 pages");
	if (pages)
		call->then.length = (call->pages + 1) * env->page_size;
	return 0;
}

/* "$name" of what was given, or a number. */
static int read_argument(struct doc *d, const json_t *json, void *then_call, const struct where *w)
{
	const char *text = json_string_value(json);
	struct then_call *call = then_call;

	call->variable = text && text[0] == '$' && text[1] ? text + 1 : NULL;
	return call->variable ? 0 : read_number(d, json, &call->then.argument, w);
}

static int read_pointed(struct doc *d, const json_t *json, void *then_call, const struct where *w)
{
	struct then_call *call = then_call;

	call->points = true;
	return read_number(d, json, &call->then.argument, w);
}

static int check_request(struct doc *d, void *made, const json_t *json, const struct where *w)
{
	const struct environment *env = d->context;
	struct then_call *call = made;
	const char *name = call->request ? call->request : "";
	struct nearest near = nearest_to(name);
	const struct abi_value *request = abi_value(abi_family(env->abi, "ioctl"), name, &near);

	if (!request)
		return error_name(d->e, w, name[0] ? name : "nothing", near.best,
				  "a request of PERF_EVENT_IOC_");
	call->then.request = request->value;
	if (json_object_get(json, "arg") && (call->points || call->text))
		return error_value(d->e, w, json, "one of arg, u64 and text");
	return 0;
}

#define NUMBER(key, member)                                                                        \
	{                                                                                          \
		key, DOC_READ, false, AT(struct then_call, member), .read = read_number            \
	}
static const struct {
	const char *name;
	char family;
	struct doc_type type;
} verbs[] = {
	[THEN_MMAP] = {"mmap",
		       'M',
		       {"mmap (pages, length, offset, private)",
			(const struct doc_row[]){NUMBER("pages", pages),
						 NUMBER("length", then.length),
						 NUMBER("offset", then.offset),
						 {"private", DOC_TRUTH, false,
						  AT(struct then_call, then.is_private)},
						 {0}},
			.size = sizeof(struct then_call), .check = check_mmap}},
	[THEN_MUNMAP] = {"munmap",
			 'M',
			 {"munmap (length)",
			  (const struct doc_row[]){NUMBER("length", then.length), {0}},
			  .size = sizeof(struct then_call)}},
	[THEN_IOCTL] = {"ioctl",
			'I',
			{"ioctl (request, arg, u64, text)",
			 (const struct doc_row[]){
				 {"request", DOC_STRING, false, AT(struct then_call, request)},
				 {"arg", DOC_READ, false, .read = read_argument},
				 {"u64", DOC_READ, false, .read = read_pointed},
				 {"text", DOC_STRING, false, AT(struct then_call, text)},
				 {0}},
			 .size = sizeof(struct then_call), .check = check_request}},
	[THEN_READ] = {"read",
		       'R',
		       {"read (size)", (const struct doc_row[]){NUMBER("size", then.size), {0}},
			.size = sizeof(struct then_call)}},
	[THEN_POLL] = {"poll",
		       'L',
		       {"poll", (const struct doc_row[]){{0}}, .size = sizeof(struct then_call)}}};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

int then_from_json(struct then_call *out, const json_t *json, struct environment *env,
		   const struct where *w, struct error *e)
{
	struct doc d = {.e = e, .context = env};
	struct nearest near = nearest_to("");
	const char *name = NULL;
	json_t *arguments = NULL;

	if (json_object_size(json) > 1)
		return error_value(e, w, json, "one of mmap, munmap, ioctl, read and poll");
	json_object_foreach((json_t *)json, name, arguments) {
		near = nearest_to(name);
		for (size_t i = 0; i < VERBS; i++) {
			nearest_try(&near, verbs[i].name);
			if (strcmp(verbs[i].name, name))
				continue;
			if (doc_read(&d, &verbs[i].type, arguments, out, AT_KEY(w, name)))
				return -EINVAL;
			out->verb = (enum then_verb)i;
			out->then.family = verbs[i].family;
			out->then.is_unmap = i == THEN_MUNMAP;
			return 0;
		}
	}
	return error_name(e, w, name ? name : "nothing", near.best,
			  "mmap, munmap, ioctl, read or poll");
}

static int map_event(const struct followed *then, int fd, struct then_buffer *buffer)
{
	void *at;

	if (then->length != (size_t)then->length || then->offset > (uint64_t)INT64_MAX)
		return ENOMEM;
	at = mmap(NULL, (size_t)then->length, PROT_READ | PROT_WRITE,
		  then->is_private ? MAP_PRIVATE : MAP_SHARED, fd, (off_t)then->offset);
	if (at == MAP_FAILED)
		return errno;
	if (!then->offset)
		*buffer = (struct then_buffer){at, then->length};
	return 0;
}

static int read_some(uint64_t size, int fd)
{
	char *to = or_exit(malloc(READ_MOST));
	int err = read(fd, to, size < READ_MOST ? (size_t)size : READ_MOST) < 0 ? errno : 0;

	free(to);
	return err;
}

int then_do(struct then_call *call, const struct scope *scope, int fd, struct then_buffer *buffer)
{
	struct vars vars = scope_vars(scope);
	struct value value = {.bits = call->then.argument};
	struct pollfd one = {.fd = fd, .events = POLLIN};
	/* What the kernel writes behind the number (QUERY_BPF: 64 ids at most) has room. */
	uint64_t numbers[64];

	if (call->variable && vars.lookup(vars.context, call->variable, &value, NULL))
		return EBADF;
	call->then.argument = value.bits;
	switch (call->verb) {
	case THEN_MMAP:
		return map_event(&call->then, fd, buffer);
	case THEN_MUNMAP:
		if (!buffer->at || call->then.length > buffer->length)
			return EINVAL;
		if (munmap(buffer->at, (size_t)call->then.length))
			return errno;
		*buffer = (struct then_buffer){0};
		return 0;
	case THEN_IOCTL:
		memset(numbers, 0, sizeof(numbers));
		numbers[0] = value.bits;
		return -event_ioctl(scope->env->abi, fd, call->request,
				    call->text     ? (void *)(uintptr_t)call->text
				    : call->points ? (void *)numbers
						   : (void *)(uintptr_t)value.bits);
	case THEN_READ:
		return read_some(call->then.size, fd);
	case THEN_POLL:
		return poll(&one, 1, POLL_MS) < 0 ? errno : 0;
	}
	return EINVAL;
}

void then_write(const struct then_call *call, char *out, size_t size)
{
	const struct followed *then = &call->then;
	char request[64];

	switch (call->verb) {
	case THEN_MMAP:
		snprintf(out, size, "mmap(NULL, %llu, PROT_READ|PROT_WRITE, %s, fd, %llu)",
			 (unsigned long long)then->length,
			 then->is_private ? "MAP_PRIVATE" : "MAP_SHARED",
			 (unsigned long long)then->offset);
		return;
	case THEN_MUNMAP:
		snprintf(out, size, "munmap(buffer, %llu)", (unsigned long long)then->length);
		return;
	case THEN_IOCTL:
		sentence_constant("PERF_EVENT_IOC_", call->request, request, sizeof(request));
		if (call->text)
			snprintf(out, size, "ioctl(fd, %s, \"%s\")", request, call->text);
		else
			snprintf(out, size,
				 call->points                 ? "ioctl(fd, %s, [%llu])"
				 : then->argument > INT64_MAX ? "ioctl(fd, %s, %lld)"
							      : "ioctl(fd, %s, %llu)",
				 request, (unsigned long long)then->argument);
		return;
	case THEN_READ:
		snprintf(out, size, "read(fd, buffer, %llu)", (unsigned long long)then->size);
		return;
	case THEN_POLL:
		snprintf(out, size, "poll({fd, POLLIN}, 1, %d)", POLL_MS);
	}
}

/*
 * The load is a bit of everything: instructions, system calls, page faults, switches, on the cpu
 * that the event is on.
 */

enum { SPINS = 10000000, SYSCALLS = 200, PAGES = 64, SWITCHES = 20, NAP = 50000 /* ns */ };
enum { DATA_PAGES = 64 };

static void load(const struct environment *env, struct counted *out)
{
	const struct timespec nap = {.tv_nsec = NAP};
	size_t size = PAGES * (size_t)env->page_size;
	volatile unsigned char *pages =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (volatile unsigned i = 0; i < SPINS; i++)
		;
	for (unsigned i = 0; i < SYSCALLS; i++)
		out->syscalls += syscall(SYS_getppid) > 0;
	for (size_t i = 0; pages != MAP_FAILED && i < PAGES; i++) {
		pages[i * env->page_size] = 1;
		out->faults++;
	}
	if (pages != MAP_FAILED)
		munmap((void *)pages, size);
	for (unsigned i = 0; i < SWITCHES; i++)
		out->switches += !nanosleep(&nap, NULL);
}

/* Those in a buffer of `size` bytes of data behind the first page. */
static void count_records(const void *buffer, size_t size, const struct environment *env,
			  struct counted *out)
{
	const struct perf_event_mmap_page *page = buffer;
	const unsigned char *data = (const unsigned char *)buffer + env->page_size;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = 0;

	out->has_samples = head <= size; /* written backward, it runs below 0 */
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

/* Counts the load on the event, which is open and off, on the cpu of the call. */
static bool count_load(const struct call *call, int fd, const struct environment *env,
		       struct counted *out)
{
	/* value, time_enabled and time_running; an event in an error state gives nothing */
	uint64_t words[3] = {0};
	cpu_set_t before, one;
	bool is_on_cpu = call->cpu < CPU_SETSIZE && !sched_getaffinity(0, sizeof(before), &before);
	ssize_t n;

	if (call->cpu >= 0 && is_on_cpu) {
		CPU_ZERO(&one);
		CPU_SET((size_t)call->cpu, &one);
		is_on_cpu = !sched_setaffinity(0, sizeof(one), &one);
	}
	/* A member counts only with its leader. */
	if (call->group_fd >= 0)
		ioctl(call->group_fd, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	load(env, out);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (call->cpu >= 0 && is_on_cpu)
		sched_setaffinity(0, sizeof(before), &before);
	n = read(fd, words, sizeof(words));
	out->is_error = !n;
	out->value = words[0];
	out->enabled = words[1];
	out->running = words[2];
	return (!n || n == sizeof(words)) && (is_on_cpu || call->cpu < 0 || call->pid == 0);
}

bool count_event(const struct call *call, const struct environment *env, struct counted *out)
{
	uint64_t times = abi_number(env->abi, "read_format", "total_time_enabled") |
			 abi_number(env->abi, "read_format", "total_time_running");
	size_t size = DATA_PAGES * (size_t)env->page_size;
	struct answer answer = {.fd = -1};
	struct call copy = {0};
	void *buffer = MAP_FAILED;
	bool good;

	*out = (struct counted){0};
	if (call->pid > 0 || call->flags & abi_number(env->abi, "open_flags", "pid_cgroup"))
		return false;
	call_copy(&copy, call, env->abi);
	/* Both times in what read(2) gives, and nothing else beside the value. */
	attr_set(abi_field(env->abi, "read_format"), copy.image, host_order(), times);
	good = !call_issue(&copy, env, &answer) && answer.fd >= 0;
	if (good && call_field(call, env->abi, "sample_period"))
		buffer = mmap(NULL, size + env->page_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			      answer.fd, 0);
	good = good && count_load(call, answer.fd, env, out);
	if (buffer != MAP_FAILED) {
		count_records(buffer, size, env, out);
		munmap(buffer, size + env->page_size);
	}
	if (answer.fd >= 0)
		close(answer.fd);
	call_free(&copy);
	return good;
}
