/* SPDX-License-Identifier: MIT */
#include "machine/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine/proc.h"

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double clock_seconds(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

double clock_processor_seconds(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

long long clock_namespace_offset(clockid_t clock)
{
	bool is_monotonic = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW;
	long long seconds, nanoseconds;
	char text[256];
	const char *line;

	if ((!is_monotonic && clock != CLOCK_BOOTTIME) ||
	    read_small("/proc/self/timens_offsets", text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, is_monotonic ? "monotonic" : "boottime");
	if (!line || sscanf(line, "%*s %lld %lld", &seconds, &nanoseconds) != 2)
		return 0;
	return seconds * 1000000000 + nanoseconds;
}

uint64_t draw(void)
{
	uint64_t drawn;
	struct timespec now = {0};

	if (getrandom(&drawn, sizeof(drawn), GRND_NONBLOCK) == sizeof(drawn))
		return drawn;
	clock_gettime(CLOCK_REALTIME, &now);
	drawn = (uint64_t)getpid() << 32 ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec;
	return drawn * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * A task that is runnable and does not run has no part in what it waits for: what counts is the
 * processor time of all, divided by how many of them could have run at once.
 */

/* Most processes are done before they are looked at for the first time. */
static const double UNSEEN = 5; /* ticks */
static const double TICK_MOST = 0.1, TICK_LEAST = 0.01;
/* Time in which all of them are stopped counts a tenth, so that a hang still ends. */
static const double STOPPED = 10;

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
	double begun = clock_processor_seconds();
	struct session_look look = session_look_at(session);
	double ran = (double)look.ticks / (double)sysconf(_SC_CLK_TCK), cost;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	/* At the first look there is nothing to compare with: they began with nothing. */
	if (look.runnable && ran >= p->ran) {
		unsigned at_once = cpus > 0 && look.runnable > (unsigned long)cpus ? (unsigned)cpus
										   : look.runnable;
		had = (ran - p->ran) / at_once;
	} else if (look.tasks && look.stopped == look.tasks) {
		had /= STOPPED;
	} else if (!look.tasks && p->was_seen) {
		had = 0; /* the last of them has just ended */
	}
	p->was_seen = look.tasks;
	p->was_stopped = p->was_stopped || look.stopped;
	p->left -= had;
	p->ran = ran;
	p->seen = now;
	/* Where there are many processes a look costs much: a twentieth of the time at most, by the
	 * processor's clock; on the wall it may have taken longer. */
	cost = clock_processor_seconds() - begun;
	p->look = clock_seconds() + (20 * cost > p->tick ? 20 * cost : p->tick);
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
