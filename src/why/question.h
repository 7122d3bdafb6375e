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
#include "why/event_name.h"

struct question {
	int as;            /* enum identity, or -1 */
	const char *event; /* or NULL */
	json_t *open;      /* as a case has it */
	json_t *given;     /* a list of steps before it */
	json_t *then;      /* a list of calls on the event; see why/opened.h */
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
