/* SPDX-License-Identifier: MIT */
/*
 * One page, mapped twice, with nothing mapped behind it.
 */
#include "stage/attempt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/attr.h"

static void ignore_signal(int sig)
{
	(void)sig;
}

void attempts_survive_signals(void)
{
	struct sigaction action = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};

	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGIO, &action, NULL);
}

/* The page of `fd`, and one behind it that nobody may touch; NULL with errno. */
static unsigned char *map_page(int fd, size_t page, int prot)
{
	unsigned char *at = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mmap(at, page, prot, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		return NULL;
	return at;
}

int attempts_begin(struct attempts *a, const struct environment *env)
{
	int fd = memfd_create("attr", MFD_CLOEXEC), err = 0;

	*a = (struct attempts){.env = env, .page = env->page_size};
	a->expected = calloc(1, a->page);
	if (fd < 0 || !a->expected || ftruncate(fd, (off_t)a->page) ||
	    getrlimit(RLIMIT_NOFILE, &a->files))
		err = errno ? -errno : -ENOMEM;
	if (!err) {
		a->writable = map_page(fd, a->page, PROT_READ | PROT_WRITE);
		a->read_only = map_page(fd, a->page, PROT_READ);
		err = a->writable && a->read_only ? 0 : -errno;
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* Where in the page attr begins: at its end, if it is cut there. */
static size_t offset_of(const struct attempts *a, const struct call *call)
{
	if (call->memory != MEMORY_CUT)
		return 0;
	return call->mapped < a->page ? a->page - (size_t)call->mapped : 0;
}

/* Lays the call's attr out in `to`, a page; `zero` takes it away again. */
static void lay_out_attr(const struct attempts *a, const struct call *call, unsigned char *to,
			 size_t offset, bool zero)
{
	size_t room = a->page - offset, n = a->env->abi->attr_size;

	n = n < room ? n : room;
	if (zero)
		memset(to + offset, 0, n);
	else
		memcpy(to + offset, call->image, n);
	for (size_t i = 0; i < call->poke_count; i++)
		if (call->pokes[i].offset < room)
			to[offset + call->pokes[i].offset] = zero ? 0 : call->pokes[i].byte;
}

/* Compares what is there with what was laid out. */
static void look_at_page(const struct attempts *a, size_t offset, struct attempt *result)
{
	const struct abi_field *size = abi_field(a->env->abi, "size");
	size_t room = a->page - offset, n = a->env->abi->attr_size;
	const unsigned char *at = a->writable + offset, *expected = a->expected + offset;

	if (room < size->offset + size->size)
		return;
	result->size = (uint32_t)attr_get(size, at, host_order());
	result->size_written = memcmp(at + size->offset, expected + size->offset, size->size) != 0;
	n = n < room ? n : room;
	result->other_written =
		memcmp(at, expected, size->offset) ||
		memcmp(at + size->offset + size->size, expected + size->offset + size->size,
		       n - size->offset - size->size);
}

struct attempt attempts_make(struct attempts *a, const struct call *call, bool no_files)
{
	struct rlimit none = {.rlim_cur = 0, .rlim_max = a->files.rlim_max};
	size_t offset = offset_of(a, call);
	unsigned char *base = call->memory == MEMORY_READ_ONLY ? a->read_only : a->writable;
	struct attempt result = {0};
	long fd;

	lay_out_attr(a, call, a->writable, offset, false);
	lay_out_attr(a, call, a->expected, offset, false);
	if (no_files)
		setrlimit(RLIMIT_NOFILE, &none);
	fd = syscall(SYS_perf_event_open, call->memory == MEMORY_NULL ? NULL : base + offset,
		     call->pid, call->cpu, call->group_fd, (unsigned long)call->flags);
	result.err = fd < 0 ? errno : 0;
	if (no_files)
		setrlimit(RLIMIT_NOFILE, &a->files);
	if (fd >= 0)
		close((int)fd);
	if (call->memory != MEMORY_NULL)
		look_at_page(a, offset, &result);
	lay_out_attr(a, call, a->writable, offset, true);
	lay_out_attr(a, call, a->expected, offset, true);
	if (result.size_written) /* the kernel's own, where the call had none */
		memset(a->writable + offset, 0, a->page - offset < 8 ? a->page - offset : 8);
	return result;
}
