/* SPDX-License-Identifier: MIT */
/*
 * What of a call several facts need.
 */
#include "model/situation.h"

#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "abi/attr.h"
#include "machine/proc.h"
#include "model/world.h"

/*
 * Reading this process's memory as the kernel does: what is not there is an answer, no signal.
 */

/* Bytes up to the next page of the smallest size there is: all of them can be read, or none. */
static size_t to_page_end(uint64_t address)
{
	enum { SMALLEST_PAGE = 4096 };

	return SMALLEST_PAGE - (size_t)(address & (SMALLEST_PAGE - 1));
}

/* Copies the text with its NUL, as far as it can be read and fits; the bytes that came. */
static size_t copy_text(uint64_t address, char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t n = to_page_end(address + at);
		struct iovec to = {.iov_base = text + at, .iov_len = n < size - at ? n : size - at};
		struct iovec from = {.iov_base = (void *)(uintptr_t)(address + at),
				     .iov_len = to.iov_len};
		ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

		if (got <= 0)
			return at;
		at += (size_t)got;
		if (memchr(to.iov_base, 0, (size_t)got))
			return at;
	}
	return at;
}

static void look_at_file(const char *path, struct text_at *out)
{
	struct statfs fs;
	struct stat st;

	out->err = stat(path, &st) ? errno : 0;
	if (out->err)
		return;
	out->is_regular = S_ISREG(st.st_mode);
	out->size = (uint64_t)st.st_size;
	out->is_nameless = !st.st_nlink;
	/* The files of these have no pages. */
	out->has_pages = !statfs(path, &fs) && (unsigned long)fs.f_type != PROC_SUPER_MAGIC &&
			 (unsigned long)fs.f_type != SYSFS_MAGIC;
}

void text_read_at(uint64_t address, struct text_at *out)
{
	char text[TEXT_AT_MAX];
	size_t n = address == (uintptr_t)address ? copy_text(address, text, sizeof(text)) : 0;
	const char *end = memchr(text, 0, n);

	*out = (struct text_at){.length = end ? (uint64_t)(end - text) : n,
				.is_readable = end || n == sizeof(text)};
	if (end)
		look_at_file(text, out);
}

/*
 * Looking a process up. Access is ptrace(2)'s: by uid, and by capability; what a security module
 * says to it is not known, and that a process is not dumpable shows in whose its files are.
 */

/* The kernel's own limit of pids, PID_MAX_LIMIT; it may be less. */
enum { PIDS_MOST = 4 << 20 };

/* The uids of /proc/PID/status, real to file system; false: it tells none. */
static bool read_uids(const char *status, unsigned uids[4])
{
	const char *at = strstr(status, "\nUid:");

	return at && sscanf(at, "\nUid: %u %u %u %u", &uids[0], &uids[1], &uids[2], &uids[3]) == 4;
}

static bool has_exited(const char *status)
{
	const char *at = strstr(status, "\nState:");
	char state = 0;

	return at && sscanf(at, "\nState: %c", &state) == 1 && (state == 'Z' || state == 'X');
}

/*
 * An ordinary user that perfabi becomes has a uid of its own, that no other process has; perfabi as
 * an ordinary user stays who it is.
 */
static bool is_of_caller(const struct caller *caller, const unsigned uids[4])
{
	unsigned own = (unsigned)getuid();

	if (caller->changes_uid && caller->as != AS_ROOT && !own)
		return false;
	return uids[0] == own && uids[1] == own && uids[2] == own;
}

/* The capabilities that it may use; false: it tells none. */
static bool read_permitted(const char *status, unsigned long long *permitted)
{
	const char *at = strstr(status, "\nCapPrm:");

	return at && sscanf(at, "\nCapPrm: %llx", permitted) == 1;
}

/* Whether it is in the user namespace of this process: 1, 0, or -1: that does not show. */
static int shares_user_namespace(int32_t id)
{
	char path[40], own[64], its[64];
	ssize_t n = readlink("/proc/self/ns/user", own, sizeof(own)), m;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", id);
	m = readlink(path, its, sizeof(its));
	return n < 0 || m < 0 ? -1 : n == m && !memcmp(own, its, (size_t)n);
}

/* The file is root's where the process is not, or has no memory; of root's own it does not show. */
static bool is_dumpable(const char *path, unsigned uid)
{
	struct stat st;

	return stat(path, &st) || st.st_uid == uid;
}

static bool look_up_process(const struct caller *caller, int32_t id, struct world_task *out)
{
	char path[40], status[4096];
	unsigned long long permitted;
	unsigned uids[4];
	int shares;

	snprintf(path, sizeof(path), "/proc/%d/status", id);
	*out = (struct world_task){.id = id};
	if (!proc_is_own())
		return false;
	if (access(path, F_OK)) /* hidepid hides what is there: then nothing is known of it */
		return kill(id, 0) && errno == ESRCH;
	if (read_small(path, status, sizeof(status)) <= 0 || !read_uids(status, uids) ||
	    !read_permitted(status, &permitted))
		return false;
	if (caller->is_unnamed && uids[0] == IDENTITY_NOBODY)
		return false;
	out->is_own = is_of_caller(caller, uids);
	out->exists = true;
	out->is_exiting = has_exited(status);
	/* __ptrace_may_access() and cap_ptrace_access_check() */
	out->may_be_read = caller->own >> CAP_SYS_PTRACE & 1 ||
			   (out->is_own && (out->is_exiting || is_dumpable(path, uids[1])) &&
			    !(permitted & ~caller->own));
	out->may_be_attached = out->may_be_read;
	if (caller->capabilities >> CAP_SYS_PTRACE & 1)
		return true; /* in every user namespace */
	/* In another one it may be the caller's to rule, or not. */
	shares = shares_user_namespace(id);
	return shares > 0 || (shares < 0 && !out->may_be_read);
}

/*
 * What the world has of the task of that id: from its list, or from /proc where it sees processes.
 * False: it is not known. An id below 0 is nobody's.
 */
static bool world_task(const struct world *world, const struct caller *caller, int32_t id,
		       struct world_task *out)
{
	for (size_t i = 0; i < world->task_count; i++) {
		if (world->tasks[i].id != id)
			continue;
		*out = world->tasks[i];
		return true;
	}
	*out = (struct world_task){
		.id = id, .exists = !id, .may_be_read = true, .may_be_attached = true};
	if (id <= 0 || id >= PIDS_MOST)
		return true;
	return world->sees_processes && look_up_process(caller, id, out);
}

/* The single bytes that a call lays over its attr. */
static void lay_over(const struct situation *s, unsigned char *attr, uint64_t end)
{
	for (size_t i = 0; i < s->call->poke_count; i++)
		if (s->call->pokes[i].offset < end)
			attr[s->call->pokes[i].offset] = s->call->pokes[i].byte;
}

/* The size comes first: it says how much there is to read. */
static void read_attr(struct situation *s)
{
	const struct abi *abi = s->machine->env->abi;
	const struct abi_field *size = s->machine->size;
	size_t kernels = s->machine->env->attr_size ? s->machine->env->attr_size : abi->attr_size;
	size_t n = size->offset + size->size;

	memcpy(s->attr, s->call->image, n);
	lay_over(s, s->attr, n);
	s->size_given = attr_get(size, s->attr, host_order());
	s->size = s->size_given ? s->size_given : abi->attr_smallest;
	n = s->size < kernels ? (size_t)s->size : kernels;
	n = n < ATTR_BYTES_MAX ? n : ATTR_BYTES_MAX;
	memset(s->attr, 0, sizeof(s->attr));
	memcpy(s->attr, s->call->image, n < abi->attr_size ? n : abi->attr_size);
	lay_over(s, s->attr, n);
}

void situation_begin(struct situation *s, const struct machine *machine, const struct call *call,
		     const struct caller *caller, const struct world *world)
{
	memset(s->state, FACT_NEW, sizeof(s->state));
	s->machine = machine;
	s->call = call;
	s->caller = caller;
	s->world = world;
	s->event = NULL;
	s->path_was_sought = false;
	s->file = NULL;
	s->task_was_sought = s->task_is_known = s->pmu.was_sought = false;
	read_attr(s);
	for (size_t i = 0; i < world->event_count && call->group_fd != -1; i++)
		if (world->events[i].fd == call->group_fd)
			s->event = &world->events[i];
	for (size_t i = 0; i < world->file_count; i++)
		if (world->files[i].fd == call->pid)
			s->file = &world->files[i];
}

int32_t situation_pid(const struct situation *s)
{
	int32_t pid = s->call->pid;

	return pid > 0 && s->world->sees_processes && pid == (int32_t)gettid() ? 0 : pid;
}

bool situation_has_task(const struct situation *s)
{
	return s->call->pid != -1 && !(s->call->flags & s->machine->pid_cgroup);
}

const struct world_task *situation_task(struct situation *s)
{
	if (!s->task_was_sought) {
		s->task_was_sought = true;
		s->task_is_known = world_task(s->world, s->caller, situation_pid(s), &s->task);
	}
	return s->task_is_known ? &s->task : NULL;
}
