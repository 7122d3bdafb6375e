/* SPDX-License-Identifier: MIT */
/*
 * What is done with an event once it is open: {"mmap": {"pages": 8}}, {"ioctl": {"request":
 * "period", "u64": 1}}, {"read": {"size": 8}}, {"munmap": {"length": 4096}}, {"poll": {}}.
 */
#ifndef PERFABI_WHY_FOLLOW_H
#define PERFABI_WHY_FOLLOW_H

#include "language/scope.h"
#include "model/world.h"

/* One of these, as it was written. */
struct follow {
	enum follow_verb {
		FOLLOW_MMAP,
		FOLLOW_MUNMAP,
		FOLLOW_IOCTL,
		FOLLOW_READ,
		FOLLOW_POLL
	} verb;
	const char *request;  /* of ioctl(2) */
	const char *text;     /* that it points to, or NULL */
	const char *variable; /* of `given` that is its argument, or NULL */
	bool points;          /* it points to then.argument */
	struct followed then;
};

/* 0, or -EINVAL with `e` filled. `json` must outlive *out. */
int follow_from_json(struct follow *out, const json_t *json, const struct environment *env,
		     const struct where *w, struct error *e);

/* Puts in what its variable stands for. 0, or -ENOENT: nothing of `given` has that name. */
int follow_settle(struct follow *follow, const struct scope *scope);

/* What is mapped of an event, from its beginning. */
struct followed_buffer {
	unsigned char *at; /* NULL: nothing */
	uint64_t length;
};

/* Does it with the event's descriptor. 0 or errno. What it maps is noted in *buffer. */
int follow_do(const struct follow *follow, const struct environment *env, int fd,
	      struct followed_buffer *buffer);

/* The call as C has it: "mmap(NULL, 36864, ...)"; cut at `size`. */
void follow_write(const struct follow *follow, char *out, size_t size);

#endif
