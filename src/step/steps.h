/* SPDX-License-Identifier: MIT */
/*
 * Steps: what a case does over time, in order, each with one verb. `given` of a case that is one
 * call is made of the same steps.
 */
#ifndef PERFABI_STEPS_H
#define PERFABI_STEPS_H

#include "call/expect.h"

enum { OPENED_MAX = 128, MAPS_MAX = 32, CHILDREN_MAX = 32 };

/* An event that a step has opened, for reading and decoding it. */
struct opened {
	int fd;               /* -1: closed */
	int output;           /* fd of the event in whose buffer its records land */
	unsigned char *image; /* its attr, abi->attr_size bytes */
	uint64_t id;
	int epoll; /* that has it since it was first polled so; 0: none */
};

/* A mapping of an event's file descriptor. */
struct map {
	unsigned char *at; /* NULL: unmapped */
	size_t length;     /* bytes */
	int fd;
	bool writable; /* then the kernel keeps off what was not read */
	bool is_data;  /* begins with the metadata page, not AUX */
	bool mangled;  /* the case wrote into the metadata page: what it says is the case's */
};

/* A process or thread that a step has started. */
struct child {
	pid_t id; /* process or thread id; 0: waited for */
	bool is_thread;
	struct thread *thread;
};

/* What all processes of a case share: names that they wait for, and the first failure. */
struct meeting;

/* The run of one process or thread through its list of steps. */
struct steps {
	const struct cases *cases;
	const struct instance *instance;
	struct environment *env;
	struct scope scope;
	struct opened events[OPENED_MAX];
	size_t event_count;
	struct map maps[MAPS_MAX];
	size_t map_count, first_map; /* maps from there on are its own, not those of who began it */
	struct child children[CHILDREN_MAX];
	size_t child_count;
	struct meeting *meeting;
	uid_t uid;                  /* of an ordinary user, for `become` */
	bool restores_sysctls;      /* what the case writes to them is put back */
	int meeting_fd;             /* its memory, for what comes behind an exec */
	volatile unsigned *at_step; /* where the number of the step is told, from 1; or NULL */
};

/* How a list of steps ended, if not well. */
struct failure {
	int outcome; /* enum outcome; PASS: it did not fail */
	int err;     /* errno of the call that failed, or 0 */
	char expected[640], got[1024], call[1088];
};

/*
 * Checks the form of every step and binds the names it would bind, so that what follows can be
 * checked against them. `scope->checking` is true. 0, or -EINVAL with `e` filled.
 */
int steps_check(const json_t *list, const struct cases *cases, struct scope *scope,
		const struct where *w, struct error *e);

/* Readies *s for the calling process. 0 or a negative errno. */
int steps_begin(struct steps *s, const struct instance *instance, const struct cases *cases,
		struct environment *env);

/*
 * Carries the steps out, in order, until one fails; what they make goes with the process and its
 * group. True if none failed, else *failure says which and how.
 */
bool steps_run(struct steps *s, const json_t *list, const struct where *w, struct failure *failure);

/* Waits for the processes and threads that are still there, and decodes what no step has read. */
bool steps_end(struct steps *s, struct failure *failure);

/*
 * The list with the index-th part of its expectations turned round; NULL if there are fewer. A new
 * reference.
 */
json_t *steps_flip(const json_t *list, const struct instance *instance, struct environment *env,
		   unsigned index);

/* The keys of a step under which lists of steps stand; NULL-terminated. */
extern const char *const steps_nested[];

/* Goes on behind an exec with what the arguments say; src/step/verbs/process.c. */
int steps_after_exec(int argc, char **argv);

/* The verbs and the workloads, one a line with their meaning: for help texts. */
void steps_help(FILE *f);

#endif
