/* SPDX-License-Identifier: MIT */
/*
 * What is done with an event once it is open: it counts a load, or what a question says is done:
 * {"mmap": {"pages": 8}}, {"ioctl": {"request": "period", "u64": 1}}, {"read": {"size": 8}},
 * {"munmap": {"length": 4096}}, {"poll": {}}.
 */
#ifndef PERFABI_WHY_OPENED_H
#define PERFABI_WHY_OPENED_H

#include "call/call.h"
#include "language/scope.h"
#include "model/machine.h"

/* One of these, as it was written. */
struct then_call {
	enum then_verb { THEN_MMAP, THEN_MUNMAP, THEN_IOCTL, THEN_READ, THEN_POLL } verb;
	const char *request;  /* of ioctl(2) */
	const char *text;     /* that it points to, or NULL */
	const char *variable; /* of `given` that is its argument, or NULL */
	bool points;          /* it points to then.argument */
	uint64_t pages;       /* of mmap(2), behind the first: then.length has them */
	struct followed then;
};

/* 0, or -EINVAL with `e` filled. `json` must outlive *out. */
int then_from_json(struct then_call *out, const json_t *json, struct environment *env,
		   const struct where *w, struct error *e);

/* What is mapped of an event, from its beginning. */
struct then_buffer {
	unsigned char *at; /* NULL: nothing */
	uint64_t length;
};

/*
 * Does it with the event's descriptor, with what its variable stands for put in; EBADF: nothing has
 * that name. 0 or errno. What it maps is noted in *buffer.
 */
int then_do(struct then_call *call, const struct scope *scope, int fd, struct then_buffer *buffer);

/* The call as C has it: "mmap(NULL, 36864, ...)"; cut at `size`. */
void then_write(const struct then_call *call, char *out, size_t size);

/*
 * Opens the event, lets it count some milliseconds of this process's work, and closes it. Whether
 * that tells anything: false for events on other processes or cgroups, and where it does not open.
 */
bool count_event(const struct call *call, const struct environment *env, struct counted *out);

#endif
