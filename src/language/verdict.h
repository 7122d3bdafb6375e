/* SPDX-License-Identifier: MIT */
/*
 * What came of a call, of a step, of a whole case: one struct from where it is found out to the
 * report. It holds no pointer, so that a case's process can leave it in shared memory.
 */
#ifndef PERFABI_VERDICT_H
#define PERFABI_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

enum outcome { PASS, FAIL, UNSTABLE, SKIP, XFAIL, XPASS, ERROR, OUTCOMES };
extern const char *const outcome_names[OUTCOMES + 1]; /* NULL-terminated */

/* Whether a run should not have it: fail, unstable, xpass, error. */
bool outcome_is_bad(int outcome);

enum { REFUSED_ATTR_MAX = 512 };

/* The last perf_event_open(2) that the kernel refused, as it was made. */
struct refused {
	bool is_there;
	int32_t pid, cpu, group_fd;
	uint64_t flags;
	unsigned char attr[REFUSED_ATTR_MAX];
};

struct verdict {
	int outcome;        /* enum outcome */
	int err;            /* errno of the call, or 0 */
	unsigned phases;    /* gates that can have refused it, as a mask; 0: nobody asked */
	char capability[8]; /* "yes", "no", "denied", or empty */
	char expected[640]; /* for people; may be empty, as the others */
	char got[1024];
	char call[1088];        /* as strace shows it, or where the step stands */
	struct refused refused; /* of a capability that is not there, if that is why */
};

/* Says what was expected and what came; false, for whoever has nothing better to return. */
bool verdict_set(struct verdict *v, enum outcome outcome, const char *expected, const char *got);

#endif
