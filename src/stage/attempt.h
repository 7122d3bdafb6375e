/* SPDX-License-Identifier: MIT */
/*
 * Making calls by the million: the memory that attr is passed in is there once, and only what a
 * call has put there is taken away again.
 */
#ifndef PERFABI_STAGE_ATTEMPT_H
#define PERFABI_STAGE_ATTEMPT_H

#include "call/call.h"

struct attempts {
	const struct environment *env;
	size_t page;
	unsigned char *writable, *read_only; /* a page each, the same one, nothing behind it */
	unsigned char *expected;             /* what it must be afterwards, a page */
	struct rlimit files;                 /* RLIMIT_NOFILE as it was */
};

/* What came of one. */
struct attempt {
	int err;            /* errno, or 0: it opened, and was closed again */
	uint32_t size;      /* attr.size afterwards, where it can be read */
	bool size_written;  /* it is another than it was */
	bool other_written; /* so is another byte */
};

/* An event may send SIGTRAP to whom it counts, and overflows may signal: the process goes on. */
void attempts_survive_signals(void);

/* 0 or a negative errno. */
int attempts_begin(struct attempts *a, const struct environment *env);

/* Makes the call, without a descriptor left for it where `no_files`. */
struct attempt attempts_make(struct attempts *a, const struct call *call, bool no_files);

#endif
