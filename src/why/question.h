/* SPDX-License-Identifier: MIT */
/*
 * A question in any of the forms that people have it in: a call as JSON, an event as perf writes
 * it, lines of strace, what `perf record -vv` prints.
 */
#ifndef PERFABI_WHY_QUESTION_H
#define PERFABI_WHY_QUESTION_H

#include "abi/abi.h"
#include "machine/environment.h"
#include "text/arena.h"
#include "text/error.h"
#include "text/source.h"

/*
 * Events as perf(1) writes them (perf-list(1)): "cycles:upp", "cpu/event=0x3c,umask=1/u",
 * "sched:sched_switch", "r01c2", "L1-dcache-load-misses", "mem:0x1000/8:rw".
 */

/* What a name asks for that the machine does not have. */
enum absent {
	ABSENT_NOTHING,
	ABSENT_PMU,        /* of that name, in sysfs */
	ABSENT_TRACEPOINT, /* of that name, in tracefs */
	ABSENT_TRACEFS,    /* that the caller can read */
	ABSENT_EVENT,      /* of the PMU, in sysfs */
	ABSENT_CALL        /* of perf_event_open(2): perf counts it by itself */
};

struct absence {
	enum absent what;
	char name[512];     /* "cpu", "sched:sched_swich" */
	char modifiers[32]; /* behind the event, or empty */
};

/*
 * The attr of that event on this machine, by sysfs and tracefs: a new reference to the fields that
 * a case's `attr` has. `names` is cases/events.json. NULL with `e` filled: what of the text is no
 * event here, and what would be; and *absence, where that is
 * because of the machine; NULL: nobody asks.
 */
json_t *event_attr(const char *text, const json_t *names, struct environment *env,
		   struct absence *absence, struct error *e);

struct question {
	int as;            /* enum identity, or -1 */
	const char *event; /* or NULL */
	json_t *open;      /* as a case has it */
	json_t *given;     /* a list of steps before it */
	json_t *then;      /* a list of calls on the event; see why.h */
	json_t *notes;     /* texts: what of the call is another here, or NULL */
	/* What the open, and the last of `then`, came to elsewhere: an errno's name or "ok"; or
	 * NULL. */
	const char *told, *told_behind;
	struct absence absence; /* what keeps the event's name from being a call */
	struct arena arena;     /* keeps all of it */
};

/* The same of an event as perf writes it, on the calling thread. As question_read(). */
int question_of_event(struct question *q, const char *event, const json_t *names,
		      struct environment *env, struct error *e);
void question_free(struct question *q);

/*
 * Reads the text, of `size` bytes with a NUL behind it. `names` is cases/events.json. 0, or -EINVAL
 * with `e` filled, which says what the text could be. Free with question_free(), whatever came.
 */
int question_read(struct question *q, const struct source *text, const json_t *names,
		  struct environment *env, struct error *e);

/* Whether the text has such a block. */
bool attr_block_is_in(const char *text);

/*
 * One call: a new reference to `open` as a case has it, the descriptor that it gave or -1, the
 * errno or 0. Whether to go on.
 */
typedef bool attr_block_call(void *context, json_t *open, int fd, int err);

/*
 * Calls `each` with the calls of all blocks, in their order; with one that was not made of a block
 * that has none. 0, or -EINVAL with `e` filled.
 */
int attr_block_calls(const char *text, const struct abi *abi, attr_block_call *each, void *context,
		     const struct where *w, struct error *e);

/* Whether a line has such a call in it, whatever stands before. */
bool strace_has_call(const char *line);

/* What a line says beside the call itself. */
struct strace_result {
	bool is_told;        /* it has the result: */
	int fd;              /* the descriptor, or -1 */
	char error[16];      /* "EINVAL"; empty where it opened */
	bool group_is_event; /* of strace -y: group_fd is an event */
};

/*
 * The call as `open` of a case has it, attr.size as a number: a new reference. NULL with `e`
 * filled: the line is cut off, or is of `strace` without -v, which leaves out most of attr.
 */
json_t *strace_open(const char *line, const struct abi *abi, struct strace_result *result,
		    const struct where *w, struct error *e);

#endif
