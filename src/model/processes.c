/* SPDX-License-Identifier: MIT */
/*
 * Looking a process up. Access is ptrace(2)'s: by uid, and by capability; what a security module
 * says to it is not known, and that a process is not dumpable shows in whose its files are.
 */
#include "model/processes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/proc_stat.h"
#include "machine/small_file.h"

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

bool world_task(const struct world *world, const struct caller *caller, int32_t id,
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
