/* SPDX-License-Identifier: MIT */
/*
 * A task that is runnable and does not run has no part in what it waits for: what counts is the
 * processor time of all, divided by how many of them could have run at once.
 */
#include "machine/patience.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine/clock.h"
#include "machine/small_file.h"

/* Most processes are done before they are looked at for the first time. */
static const double UNSEEN = 5; /* ticks */
static const double TICK_MOST = 0.1, TICK_LEAST = 0.01;
/* Time in which all of them are stopped counts a tenth, so that a hang still ends. */
static const double STOPPED = 10;

/* What a line of /proc/PID/stat says. */
struct task_stat {
	char state;
	pid_t session;
	unsigned long long ticks; /* of processor time, its own and its waited-for children's */
	long threads;
};

static bool read_stat(const char *path, struct task_stat *stat)
{
	unsigned long long own, kernel;
	long long children, kernel_children;
	char text[1024], *end;

	/* The name ends with the last parenthesis: it may have some itself. */
	if (read_small(path, text, sizeof(text)) <= 0 || !(end = strrchr(text, ')')))
		return false;
	if (sscanf(end + 1,
		   " %c %*d %*d %d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d %ld",
		   &stat->state, &stat->session, &own, &kernel, &children, &kernel_children,
		   &stat->threads) != 7)
		return false;
	stat->ticks =
		own + kernel + (unsigned long long)children + (unsigned long long)kernel_children;
	return true;
}

/* What the tasks of a session have used, and how many of them are what. */
struct session_look {
	unsigned long long ticks;
	unsigned tasks, runnable, stopped;
};

static void count_task(struct session_look *look, char state)
{
	look->tasks += state != 'Z' && state != 'X';
	look->runnable += state == 'R';
	look->stopped += state == 'T' || state == 't';
}

static void count_threads(struct session_look *look, const char *process)
{
	struct dirent *entry;
	struct task_stat stat;
	char path[320];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%s/task", process);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "/proc/%s/task/%.16s/stat", process, entry->d_name);
		if (entry->d_name[0] != '.' && read_stat(path, &stat))
			count_task(look, stat.state);
	}
	if (folder)
		closedir(folder);
}

/* A pid namespace may see another's /proc, where a number is not the process that it is here. */
static bool proc_is_ours(void)
{
	char self[32], link[32];
	ssize_t length = readlink("/proc/self", link, sizeof(link));

	return length == snprintf(self, sizeof(self), "%d", (int)getpid()) &&
	       !memcmp(self, link, (size_t)length);
}

static struct session_look look_at(pid_t session)
{
	DIR *folder = proc_is_ours() ? opendir("/proc") : NULL;
	struct session_look look = {0};
	struct dirent *entry;
	struct task_stat stat;
	char path[64];

	while (folder && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "/proc/%.16s/stat", entry->d_name);
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !read_stat(path, &stat) ||
		    stat.session != session)
			continue;
		look.ticks += stat.ticks;
		if (stat.threads > 1)
			count_threads(&look, entry->d_name);
		else
			count_task(&look, stat.state);
	}
	if (folder)
		closedir(folder);
	return look;
}

struct patience patience_begin(double seconds)
{
	double now = clock_seconds(), tick = seconds / 10;

	tick = tick > TICK_MOST ? TICK_MOST : tick < TICK_LEAST ? TICK_LEAST : tick;
	return (struct patience){
		.left = seconds, .seen = now, .look = now + UNSEEN * tick, .tick = tick};
}

bool patience_is_over(struct patience *p, pid_t session)
{
	/* While the caller was kept from looking they may have been kept from running. */
	double now = clock_seconds(), had = (p->look < now ? p->look : now) - p->seen;
	struct session_look look = look_at(session);
	double ran = (double)look.ticks / (double)sysconf(_SC_CLK_TCK), cost;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	/* At the first look there is nothing to compare with: they began with nothing. */
	if (look.runnable && ran >= p->ran) {
		unsigned at_once = cpus > 0 && look.runnable > (unsigned long)cpus
					   ? (unsigned)cpus
					   : look.runnable;
		had = (ran - p->ran) / at_once;
	} else if (look.tasks && look.stopped == look.tasks) {
		had /= STOPPED;
	} else if (!look.tasks && p->was_seen) {
		had = 0; /* the last of them has just ended */
	}
	p->was_seen = look.tasks;
	p->is_doubtful = p->is_doubtful || look.stopped || !look.tasks;
	p->left -= had;
	p->ran = ran;
	p->seen = now;
	/* Where there are many processes, a look takes its time: a twentieth of it at most. */
	cost = clock_seconds() - now;
	p->look = now + (20 * cost > p->tick ? 20 * cost : p->tick);
	return p->left <= 0;
}

bool patience_await(pid_t child, double seconds, bool (*is_to_end)(void), int *status)
{
	struct patience p = patience_begin(seconds);
	struct timespec pause = {.tv_nsec = 100000}; /* and twice as long each time */
	bool in_time = true, ended = false;
	pid_t got;

	for (;;) {
		got = waitpid(child, status, WNOHANG);
		if (got == child || (got < 0 && errno != EINTR))
			break;
		in_time = clock_seconds() < p.look || !patience_is_over(&p, child);
		ended = is_to_end && is_to_end();
		if (!in_time || ended) {
			kill(-child, SIGKILL);
			kill(child, SIGKILL); /* it may not lead its own session yet */
			while (waitpid(child, status, 0) < 0 && errno == EINTR)
				;
			break;
		}
		nanosleep(&pause, NULL);
		pause.tv_nsec = pause.tv_nsec < 5000000 ? 2 * pause.tv_nsec : pause.tv_nsec;
	}
	kill(-child, SIGKILL); /* what it left */
	return in_time;
}
