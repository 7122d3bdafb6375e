/* SPDX-License-Identifier: MIT */
/*
 * What a run holds: the runner, and a worker for each process at a time. The files of this folder
 * share it; others see run.h.
 */
#ifndef PERFABI_RUNNER_H
#define PERFABI_RUNNER_H

#include <signal.h>
#include <sys/types.h>

#include "machine/clock.h"
#include "machine/restore.h"
#include "run/result.h"
#include "run/requirements.h"

struct alarms;
struct baseline;

struct run_options {
	unsigned jobs;   /* processes at a time, at least 1 */
	double timeout;  /* seconds a case may take */
	double wait;     /* seconds to wait for another perfabi; negative: without end */
	unsigned repeat; /* rounds, at least 1 */
	bool shuffle;
	bool tries_skipped; /* runs what it would skip, and tells what passes */
	bool is_expendable; /* the machine is */
	uint64_t seed;
	/* The part of each instance that is made wrong, from 1, in their order; NULL: none is. */
	const unsigned *parts;
	/* Failures that it expects are not tried again; may be NULL. */
	const struct baseline *baseline;
	struct trace *trace;   /* that cases tell their calls to; NULL: nobody asks */
	struct alarms *alarms; /* of the kernel, which are looked for; NULL: nobody asks */
	/* Called when other runs are kept away, as far as they can be, and what `env` says of the
	 * sysctls is the machine's own; before that no case is judged. May be NULL. */
	void (*begun)(void *context);
	/* Called before an instance's process is there, the first time; not for one that is
	 * skipped. May be NULL. */
	void (*started)(void *context, const struct instance *instance);
	/* Called as each instance ends, in the order in which they end; may be NULL. False: enough,
	 * no other one begins; those under way come to their end. */
	bool (*ended)(void *context, const struct result *result, size_t done, size_t total);
	void *context;
};

/* How often a sysctl was changed by somebody else, and how often of that by the kernel itself. */
struct moves {
	unsigned all, by_kernel;
};

enum { CONFIRMED = 40 }; /* failures that came each time; all others are believed then */

/* Of a case that failed, and runs again. */
struct trial {
	unsigned runs, failures;
	double ends;            /* clock_seconds() */
	struct verdict failure; /* the first */
	const char *control;    /* the one that found why it may fail at times; NULL: none has */
	char why[384];          /* what it found */
};

/* A place in which one process at a time runs. */
struct worker {
	pid_t pid; /* 0: idle */
	size_t index;
	double began; /* clock_seconds() */
	struct patience patience;
	struct slot *slot;
	uid_t uid; /* of an ordinary user's case; never read back from the slot */
	bool timed_out;
	struct beside beside;
	struct moves moves;        /* of the sysctls until it began */
	unsigned long oom_kills;   /* until it began */
	char *cgroup;              /* its own, or NULL: a copy, for no case has the journal */
	struct sysctl_set sysctls; /* what its case may change, and is put back behind it */
	struct trial trial;        /* of its case */
	struct result skipped;     /* with a token: what its case is skipped for when it has run */
};

struct runner {
	const struct instance *const *instances;
	const struct cases *cases;
	struct environment *env;
	const struct run_options *options;
	struct result *results;
	size_t count;

	size_t *order; /* of this round; its beginning is what runs again in the next turn */
	size_t next, end, again, done; /* end: of this turn; again: how many run again */
	unsigned round, turn;          /* 0: of all; later ones are of what was void */
	struct worker *workers;
	struct restorer *machine;
	struct sysctl_watch sysctls;
	bool has_begun; /* the machine was looked at with other runs kept away */
	struct moves moves;
	char moved[96];       /* the last move that was not the kernel's, or else the last */
	uint64_t jitter;      /* state of runner_random() */
	unsigned confirmed;   /* how many failures came each time */
	double waiting_since; /* for another perfabi; 0: we are not */
	bool gave_up;         /* waiting */
	struct surroundings surroundings;
	struct requirements requirements;
	sigset_t waited, before;
	int interrupted;               /* signal */
	const struct instance *enough; /* with --fail-fast: what failed first */
};

#endif
