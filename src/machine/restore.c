/* SPDX-License-Identifier: MIT */
/*
 * The journal is in memory shared with the guardian alone, and written before what it is about is
 * done: no process of a case has it, whoever that process runs as. The guardian waits for the end
 * of a pipe that perfabi alone holds open: then perfabi has ended, whatever ended it.
 */
#include "machine/restore.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine/limits.h"
#include "machine/clock.h"
#include "machine/environment.h"
#include "text/error.h"
#include "machine/lock.h"
#include "text/say.h"
#include "machine/proc.h"
#include "machine/sysctl.h"

enum {
	PATH_SIZE = 320,
	TRIES = 2000,   /* of a millisecond */
	PATIENCE = 600, /* seconds */
	NAMES = 8,      /* tried for a cgroup */
	LEFT = 32       /* cgroups that could not be removed yet */
};

struct cgroup {
	char path[PATH_SIZE]; /* empty: none */
	volatile int err;     /* why it could not be removed when that was tried; 0: not so */
};

/* What one job holds. */
struct place {
	volatile pid_t session;
	struct cgroup cgroup;
};

struct restorer {
	size_t size; /* bytes of this */
	pid_t guardian;
	int pipe;
	struct machine_lock lock;
	struct {
		volatile bool noted;
		volatile int err; /* why it could not be put back when that was tried; 0: not so */
		long was;
	} sysctls[SYSCTLS];
	struct cgroup left[LEFT]; /* of cases that have ended */
	unsigned jobs;
	struct place places[];
};

static void pause_a_little(void)
{
	struct timespec t = {.tv_nsec = 1000000};

	nanosleep(&t, NULL);
}

/*
 * The depth of call chains cannot be written while an event has one: it may be on its way out. If
 * it is not, it is somebody else's, and no case need wait for it as long again.
 */
static int restore_sysctl(const char *name, long value, bool is_stuck)
{
	int err = sysctl_write(name, value);

	for (int i = 0; err == -EBUSY && !is_stuck && i < TRIES; i++) {
		pause_a_little();
		err = sysctl_write(name, value);
	}
	return err;
}

struct sysctl_set machine_restore(struct restorer *m)
{
	struct sysctl_set restored = {{false}};

	for (size_t n = 0; n < SYSCTLS; n++) {
		const char *name = sysctl_names[n];
		long now;
		int err = 0;

		if (!m->sysctls[n].noted)
			continue;
		if (sysctl_read(name, &now) || now != m->sysctls[n].was)
			err = restore_sysctl(name, m->sysctls[n].was, m->sysctls[n].err != 0);
		m->sysctls[n].noted = err != 0;
		m->sysctls[n].err = err;
		restored.has[n] = !err;
	}
	return restored;
}

static bool sysctls_are_restored(const struct restorer *m)
{
	for (size_t i = 0; i < SYSCTLS; i++)
		if (m->sysctls[i].noted)
			return false;
	return true;
}

static bool is_restored(const struct restorer *m)
{
	if (!sysctls_are_restored(m))
		return false;
	for (size_t i = 0; i < LEFT; i++)
		if (m->left[i].path[0])
			return false;
	for (unsigned i = 0; i < m->jobs; i++)
		if (m->places[i].cgroup.path[0])
			return false;
	return true;
}

static void say_stuck_cgroup(const struct cgroup *cgroup)
{
	if (cgroup->path[0])
		say(stderr,
		    "perfabi: the cgroup %s could not be removed: %s; perfabi-guard keeps "
		    "trying for %d minutes; to do it yourself:\n"
		    "  rmdir %s\n",
		    cgroup->path, strerror(cgroup->err), PATIENCE / 60, cgroup->path);
}

static void say_stuck(const struct restorer *m)
{
	for (size_t i = 0; i < SYSCTLS; i++)
		if (m->sysctls[i].noted)
			say(stderr,
			    "perfabi: kernel.%s could not be put back: %s; perfabi-guard keeps "
			    "trying for %d minutes; to do it yourself:\n"
			    "  sysctl kernel.%s=%ld\n",
			    sysctl_names[i], strerror(-m->sysctls[i].err), PATIENCE / 60,
			    sysctl_names[i], m->sysctls[i].was);
	for (size_t i = 0; i < LEFT; i++)
		say_stuck_cgroup(&m->left[i]);
	for (unsigned i = 0; i < m->jobs; i++)
		say_stuck_cgroup(&m->places[i].cgroup);
}

int machine_set(struct restorer *m, json_t *sysctls, const struct sysctl_set *set,
		const char **failed)
{
	const char *name;
	json_t *value;

	for (size_t i = 0; i < SYSCTLS; i++)
		if (set->has[i] && !m->sysctls[i].noted &&
		    !sysctl_read(sysctl_names[i], &m->sysctls[i].was))
			m->sysctls[i].noted = true;
	json_object_foreach(sysctls, name, value) {
		int i = name_index(name, sysctl_names, NULL);
		bool known = i >= 0 && i < SYSCTLS && m->sysctls[i].noted;
		int err = known ? sysctl_write(name, (long)json_integer_value(value)) : -ENOENT;

		*failed = name;
		if (err)
			return err;
	}
	return 0;
}

/* One level of cgroups below it, which steps can have made. */
static void remove_below(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char below[PATH_SIZE + 260];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		rmdir(below);
	}
	if (dir)
		closedir(dir);
}

/*
 * A cgroup is busy as long as a process is in it, and what was killed takes a while. What is in one
 * that stayed all the same is somebody else's, which nobody need wait for as long again.
 */
static void remove_cgroup(struct cgroup *cgroup)
{
	bool is_stuck = cgroup->err != 0;

	for (int i = 0; cgroup->path[0] && i < TRIES; i++) {
		remove_below(cgroup->path);
		if (!rmdir(cgroup->path) || errno == ENOENT)
			cgroup->path[0] = '\0';
		else
			cgroup->err = errno;
		if (!cgroup->path[0] || cgroup->err != EBUSY || is_stuck)
			break;
		pause_a_little();
	}
}

/* Whole or not at all: the guardian may look at any time. */
static void note_path(struct cgroup *cgroup, const char *path)
{
	memcpy(cgroup->path + 1, path + 1, PATH_SIZE - 1);
	atomic_thread_fence(memory_order_release);
	cgroup->path[0] = path[0];
}

/* The place is free for another one; false: there are too many that stay. */
static bool leave_behind(struct restorer *m, struct cgroup *cgroup)
{
	for (size_t i = 0; cgroup->path[0] && i < LEFT; i++) {
		if (m->left[i].path[0])
			continue;
		m->left[i].err = cgroup->err;
		note_path(&m->left[i], cgroup->path); /* in both for a moment: removed once */
		cgroup->path[0] = '\0';
	}
	return !cgroup->path[0];
}

void machine_remove_cgroup(struct restorer *m, unsigned place)
{
	struct cgroup *cgroup = &m->places[place].cgroup;

	remove_cgroup(cgroup);
	leave_behind(m, cgroup);
}

const char *machine_make_cgroup(struct restorer *m, unsigned place)
{
	struct cgroup *cgroup = &m->places[place].cgroup;
	char root[PATH_SIZE - 64], path[PATH_SIZE];

	if (environment_cgroup("v2", root, sizeof(root))) {
		errno = ENOENT;
		return NULL;
	}
	if (!leave_behind(m, cgroup)) {
		errno = EBUSY;
		return NULL;
	}
	cgroup->err = 0;
	for (int i = 0; i < NAMES; i++) {
		/*
		 * Runs in other containers may share the hierarchy, and have the same pids: the
		 * name is nobody else's, now or left over, by what is drawn.
		 */
		snprintf(path, PATH_SIZE, "%s/perfabi-%d-%016llx", root, (int)getpid(),
			 (unsigned long long)draw());
		note_path(cgroup, path);
		if (!mkdir(path, 0755))
			return cgroup->path;
		cgroup->path[0] = '\0';
		if (errno != EEXIST)
			break;
	}
	return NULL;
}

void machine_note(struct restorer *m, unsigned place, pid_t session)
{
	m->places[place].session = session;
}

/* Processes of the case outlive perfabi for a moment: each dies with its parent. */
static void end_session(struct place *place)
{
	for (int i = 0; place->session > 1 && i < TRIES; i++) {
		if (kill(-place->session, SIGKILL) || !session_look_at(place->session).tasks)
			break;
		pause_a_little();
	}
}

/*
 * What a case could not put back while it ran alone. Other runs may have begun since: their cases
 * go by the sysctls as they are, and put back what they found. So nothing is written while one is
 * there.
 */
static void restore_last(struct restorer *m, struct machine_lock *lock)
{
	if (!sysctls_are_restored(m) && machine_lock_snatch(lock))
		machine_restore(m);
	for (unsigned i = 0; i < m->jobs; i++)
		remove_cgroup(&m->places[i].cgroup);
	for (size_t i = 0; i < LEFT; i++)
		remove_cgroup(&m->left[i]); /* which are nobody else's */
}

_Noreturn static void guard(struct restorer *m, int end)
{
	struct machine_lock lock = m->lock; /* *m is perfabi's as well, which closes its own */
	char byte;
	int null;

	setsid();
	prctl(PR_SET_NAME, "perfabi-guard");
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
	null = descriptors_open_null();
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	descriptors_close_from(3, end, lock.lock);
	while (read(end, &byte, 1) < 0 && errno == EINTR)
		;
	for (unsigned i = 0; i < m->jobs; i++)
		end_session(&m->places[i]);
	restore_last(m, &lock);
	machine_lock_give_up(&lock); /* others need not wait until it is done */
	for (int i = 0; !is_restored(m) && i < PATIENCE; i++) {
		sleep(1);
		restore_last(m, &lock);
		machine_lock_give_up(&lock);
	}
	_exit(0);
}

struct restorer *machine_begin(unsigned jobs)
{
	size_t size = sizeof(struct restorer) + jobs * sizeof(struct place);
	struct restorer *m =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int ends[2];
	pid_t guardian;

	if (m == MAP_FAILED)
		return NULL;
	m->size = size;
	m->jobs = jobs;
	machine_lock_open(&m->lock);
	if (pipe2(ends, O_CLOEXEC)) {
		machine_lock_close(&m->lock);
		munmap(m, size);
		return NULL;
	}
	m->pipe = ends[1];
	guardian = fork(); /* not into *m: both would write there */
	if (!guardian) {
		close(ends[1]);
		guard(m, ends[0]);
	}
	m->guardian = guardian;
	close(ends[0]);
	if (guardian > 0 && !madvise(m, size, MADV_DONTFORK))
		return m;
	close(ends[1]); /* which ends the guardian, if there is one */
	machine_lock_close(&m->lock);
	munmap(m, size);
	return NULL;
}

bool machine_end(struct restorer *m)
{
	bool restored;

	if (!m)
		return true;
	restore_last(m, &m->lock);
	restored = is_restored(m);
	if (!restored)
		say_stuck(m);
	close(m->pipe);
	while (restored && waitpid(m->guardian, NULL, 0) < 0 && errno == EINTR)
		;
	machine_lock_close(&m->lock);
	munmap(m, m->size);
	return restored;
}

struct machine_lock *machine_lock_of(struct restorer *m)
{
	return &m->lock;
}
