/* SPDX-License-Identifier: MIT */
/*
 * flock(2) on files of tracefs or debugfs. A kernel has one instance of each, so that runs in other
 * mount, pid and user namespaces meet in the same inodes, which a file in /proc, /run or /tmp does
 * not give; and they are root's alone, so that nobody else can keep root waiting.
 *
 * One file says who may run, the other who is next: without it those who share the first would
 * never let one in who wants it alone.
 */
#include "machine/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "machine/clock.h"
#include "machine/proc.h"
#include "machine/environment.h"

static const struct place {
	const char *type;
	long magic;
	const char *paths[3];
	const char *lock, *next; /* what is there as long as it is */
} places[] = {
	{"tracefs",
	 TRACEFS_MAGIC,
	 {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"},
	 ".",
	 "tracing_on"},
	{"debugfs", DEBUGFS_MAGIC, {"/sys/kernel/debug"}, ".", "bdi"},
};

/* Not by whoever is no root: neither by its mode nor by a folder that lets others in. */
static bool is_roots_alone(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !st.st_uid && !(st.st_mode & (st.st_gid ? 077 : 07));
}

static int open_file(int folder, const char *name)
{
	return openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool open_place(struct machine_lock *lock, const struct place *place)
{
	int folder = tracefs_open_as(place->type, place->magic, place->paths);

	if (folder < 0)
		return false;
	if (is_roots_alone(folder)) {
		lock->lock = open_file(folder, place->lock);
		lock->next = open_file(folder, place->next);
	}
	close(folder);
	/* A sandbox can refuse flock(2) itself: then there is no lock, and nobody to wait for. */
	if (lock->lock >= 0 && lock->next >= 0 && !flock(lock->lock, LOCK_UN))
		return true;
	machine_lock_close(lock);
	return false;
}

bool machine_lock_open(struct machine_lock *lock)
{
	*lock = (struct machine_lock){.lock = -1, .next = -1};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (open_place(lock, &places[i]))
			return true;
	return false;
}

void machine_lock_close(struct machine_lock *lock)
{
	if (lock->lock >= 0)
		close(lock->lock);
	if (lock->next >= 0)
		close(lock->next);
	*lock = (struct machine_lock){.lock = -1, .next = -1};
}

static bool try_lock(int fd, int how)
{
	return !flock(fd, how | LOCK_NB);
}

bool machine_lock_is_held(const struct machine_lock *lock, bool alone)
{
	return lock->held && (lock->lock < 0 || lock->alone == alone);
}

int machine_lock_try(struct machine_lock *lock, bool alone)
{
	if (lock->lock < 0)
		lock->held = true;
	if (machine_lock_is_held(lock, alone))
		return 0;
	if (lock->held) /* whoever is next must not wait for one who waits to be */
		flock(lock->lock, LOCK_UN);
	lock->held = false;
	lock->is_next = lock->is_next || try_lock(lock->next, LOCK_EX);
	if (!lock->is_next || !try_lock(lock->lock, alone ? LOCK_EX : LOCK_SH))
		return -EWOULDBLOCK;
	flock(lock->next, LOCK_UN);
	lock->is_next = false;
	lock->held = true;
	lock->alone = alone;
	return 0;
}

bool machine_lock_is_there(const struct machine_lock *lock)
{
	return lock->lock >= 0;
}

bool machine_lock_wait(struct machine_lock *lock, bool alone, double seconds)
{
	enum { BETWEEN_TRIES = 50000 /* us */ };
	double until = clock_seconds() + seconds;

	while (machine_lock_try(lock, alone)) {
		if (clock_seconds() >= until)
			return false;
		usleep(BETWEEN_TRIES);
	}
	return true;
}

void machine_lock_give_up(struct machine_lock *lock)
{
	if (lock->lock >= 0)
		flock(lock->lock, LOCK_UN);
	lock->held = false;
}

bool machine_lock_snatch(struct machine_lock *lock)
{
	lock->held = lock->lock < 0 || try_lock(lock->lock, LOCK_EX);
	lock->alone = lock->held;
	return lock->held;
}

/* The process that holds the file, as /proc/locks has it; 0: in another pid namespace. */
static int holder_of(int fd)
{
	struct stat st;
	char line[256], place[64];
	FILE *f = fopen("/proc/locks", "re");
	int found = 0;

	if (f && !fstat(fd, &st)) {
		snprintf(place, sizeof(place), "%02x:%02x:%llu", major(st.st_dev), minor(st.st_dev),
			 (unsigned long long)st.st_ino);
		while (!found && fgets(line, sizeof(line), f)) {
			char at[64];
			int pid;

			if (sscanf(line, "%*d: FLOCK %*s %*s %d %63s", &pid, at) == 2 &&
			    !strcmp(at, place) && pid != getpid())
				found = pid;
		}
	}
	if (f)
		fclose(f);
	return found;
}

const char *machine_lock_holder(const struct machine_lock *lock, char *text, size_t size)
{
	int pid = holder_of(lock->lock);
	char path[64], name[32];

	if (!pid)
		pid = holder_of(lock->next);
	if (!pid) {
		snprintf(text, size, "another perfabi");
		return text;
	}
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (read_line(path, name, sizeof(name)) <= 0)
		snprintf(name, sizeof(name), "perfabi");
	snprintf(text, size, "%s, process %d", name, pid);
	return text;
}
