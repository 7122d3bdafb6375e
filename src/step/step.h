/* SPDX-License-Identifier: MIT */
/*
 * The run of one process or thread through its list of steps: what it has opened, mapped, begun and
 * bound; and a step while it is done: what verbs are given, and what they use.
 */
#ifndef PERFABI_STEP_H
#define PERFABI_STEP_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "language/verdict.h"
#include "step/program.h"

enum { OPENED_MAX = 128, MAPS_MAX = 32, CHILDREN_MAX = 32, NO_EVENT = -1 };

/* A file descriptor of an event that a step has opened, for reading and decoding it. */
struct opened {
	int fd;
	bool is_closed;       /* since then the number may be another's */
	int event;            /* which event: the index of its first descriptor */
	int output;           /* of that one: the event in whose buffer its records land */
	unsigned char *image; /* its attr, abi->attr_size bytes */
	uint64_t id;
};

/* A mapping of an event's file descriptor. */
struct map {
	unsigned char *at; /* NULL: unmapped */
	size_t length;     /* bytes */
	int fd;
	int event;     /* as in struct opened; NO_EVENT: it is of something else */
	bool writable; /* then the kernel keeps off what was not read */
	bool is_data;  /* begins with the metadata page, not AUX */
	bool mangled;  /* the case wrote into the metadata page: what it says is the case's */
};

/* A process or thread that a step has started. */
struct child {
	pid_t id;              /* process or thread id; 0: waited for */
	struct thread *thread; /* NULL: it is a process */
};

/* What all processes of a case share: words that they wait for, and the first failure. */
struct sync;

struct steps {
	const struct tables *tables;
	struct who who;
	struct refused
		*refused; /* where the last open that is refused is kept; NULL: nobody asks */
	bool is_call;     /* the program is one call, which is shown whatever comes of it */
	bool asks_gates;  /* of an open that is refused; a capability's are no refusals */
	struct environment *env;
	struct scope scope;
	struct opened events[OPENED_MAX];
	size_t event_count;
	/* A dead child for gates; 0: none yet; -1: there was an event, and a fork could swap
	 * contexts. */
	pid_t zombie;
	struct map maps[MAPS_MAX];
	size_t map_count, first_map; /* maps from there on are its own, not those of who began it */
	struct child children[CHILDREN_MAX];
	size_t child_count;
	struct sync *sync;
	int sync_fd;                /* its memory, for what comes behind an exec */
	uid_t uid;                  /* of an ordinary user, for `become` */
	bool restores_sysctls;      /* what the case writes to them is put back */
	bool is_expendable;         /* so is the machine */
	struct trace *trace;        /* that its calls are told to, or NULL */
	volatile unsigned *at_step; /* where the number of the step is told, from 1; or NULL */
};

/* Readies *s for the calling process. 0 or a negative errno. */
int steps_begin(struct steps *s, const struct tables *tables, const struct who *who,
		struct environment *env);

/* A thread of the case; what it begins with and ends with. */
struct thread {
	pthread_t pthread;
	struct steps run;
	const struct block *block;
	uint32_t tid;
	bool good;
};

struct step {
	const struct statement *statement;
	struct arguments arguments; /* of the verb, evaluated */
	const struct tables *tables;
	struct scope *scope;
	struct steps *run;
	const struct alternative
		*expected; /* of `expect`, the one that counts; NULL: it is no test */
	struct error *error;
	struct verdict *verdict;

	/* What came. */
	int err;              /* errno of the call, or 0 */
	unsigned phases;      /* the gates that can have refused it; 0: nobody asked */
	bool attr_is_written; /* by an open: its size */
	uint64_t result;      /* for bind, unless there is more to see */
	json_t *shown;        /* what `expect` and bind are about, owned; or NULL */
	char call[1000];      /* as strace would show it; empty: the step's own JSON will do */
	struct call made;     /* of an open that hangs on variables */
	struct arena arena;   /* memory that goes with the step */
};

/* Does it: the verb's run(). Tests stand in its way, to lie. */
int step_do(struct step *s);

/* What a verb returns when something failed that is not under test. */
int step_failed(struct step *s, int err);

/* What a verb returns that prepares: `ret` is its result, or -1 with errno. */
int step_prepared(struct step *s, long ret);

/* The same when what a step names is not what the verb is for. */
int step_misnamed(struct step *s, const char *key, const char *expected);

/* What the kernel did against its word: "got", and what was expected. */
int step_broken(struct step *s, const char *got, const char *expected);

/* Notes the call for people. */
void step_say(struct step *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes what a system call returned: its errno if `ret` is -1. */
void step_answer(struct step *s, long ret);

/* Sets a member of what is shown; takes the reference. */
void step_show(struct step *s, const char *key, json_t *value);
void step_show_number(struct step *s, const char *key, uint64_t value);
void step_show_address(struct step *s, const char *key, uint64_t address);

/* The open event of that fd, or NULL. */
struct opened *step_event(struct step *s, int fd);

/* Which event that fd is of, or was when it was closed; NO_EVENT: of none that has a name. */
int step_which(const struct step *s, int fd);

/* The newest mapping of the event whose fd that is or was, of its data alone or any; or NULL. */
struct map *step_map(struct step *s, int fd, bool is_data);

/* Remembers another fd of an event. */
void step_keep_copy(struct step *s, const struct opened *event, int fd);

/* Whether the step has that argument. */
bool step_has(const struct step *s, const char *key);

/* Memory that is shared with all processes of a case. */
struct trace {
	pid_t first; /* whose lines bear no number; 0: nobody has told anything yet */
	uint32_t at; /* so many bytes of text there are; more than fit, if lines are missing */
	char text[1 << 20];
};

/* NULL with errno. Free with trace_free(). */
struct trace *trace_make(void);
void trace_free(struct trace *trace);

/* Forgets what was told, as where a case runs again. NULL: nobody asks. */
void trace_begin(struct trace *trace);

/* Writes what was told; a line that its process did not live to write whole is cut. */
void trace_print(const struct trace *trace, FILE *f);

/* Carries the steps out, in order, until one fails: false, and *v says which and how. What they
 * make goes with the process and its group. */
bool steps_run(struct steps *s, const struct block *block, struct verdict *v);

/* Waits for the processes and threads that are still there, and decodes what no step has read. */
bool steps_end(struct steps *s, struct verdict *v);

/* Waits for the child; its wait status in *status. 0 or a negative errno. */
int child_wait(struct child *child, int *status);

/* Goes on behind an exec with what the arguments say; verbs/process.c. */
int steps_after_exec(int argc, char **argv);

/*
 * What the processes and threads of a case share, which ends with them; verbs/process.c. Mapped
 * from *fd, which is made where it is negative, so that it can be mapped behind an exec. NULL on
 * failure.
 */
struct sync *sync_make(int *fd);

/* Whether somebody has failed, and how. */
bool sync_failed(const struct sync *s, struct verdict *failure);

/*
 * What an event's buffer holds (map->event is one), decoded strictly: what is not accounted for to
 * its last byte is an error. A new list, or NULL with `e` filled. `keep` leaves it unread; what the
 * kernel overwrites always is. data_head is read before the data it covers, and data_tail written
 * after it was copied, as the kernel's ring_buffer.c asks for.
 */
json_t *buffer_records(struct steps *run, struct map *map, bool keep, struct error *e);

/* The whole mapping as it is: a new {"page": ..., "records": [...]}, or NULL with `e` filled. */
json_t *buffer_image(const struct steps *run, const struct opened *const events[], size_t count,
		     const struct map *map, struct error *e);

/* data_head of that buffer. */
const uint64_t *buffer_head(const struct steps *run, const struct map *map);

/* What read(2) gave of the event, by its read_format: a new object, or NULL with `e` filled. */
json_t *buffer_of_read(const struct steps *run, const struct opened *event,
		       const unsigned char *bytes, size_t size, struct error *e);

#endif
