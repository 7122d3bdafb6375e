/* SPDX-License-Identifier: MIT */
/*
 * Whether an instance may run on this machine.
 */
#ifndef PERFABI_REQUIREMENTS_H
#define PERFABI_REQUIREMENTS_H

#include "run/child.h"
#include "run/result.h"

struct requirements {
	const struct cases *cases;
	struct environment *env;
	const struct surroundings *surroundings;
	double timeout; /* seconds, for a case that another one requires */
	bool asks_all;  /* a skip's `lacks` says how many of the tokens are not met */
};

/* Whether nothing can run as that identity; then `result` says why. */
bool requirements_bar(const struct requirements *here, const struct instance *instance,
		      struct result *result);

/*
 * 1 if one of the tokens, a | between, is met. Else `why` says what was found of each: 0 if none
 * is, -1 if that is not known of one of them. `uid` is an ordinary user's, for a case that is
 * required.
 */
int requirements_truth(const struct requirements *here, uid_t uid, const struct instance *instance,
		       const char *tokens, char *why, size_t size);

/* Whether all that it requires is there; else `result` says what is not. */
bool requirements_allow(const struct requirements *here, uid_t uid, const struct instance *instance,
			struct result *result);

/*
 * Whether a failure with that errno (0: of something else) can be of what the case says no to: one
 * of the errnos of its outcome, where it names them alone.
 */
bool required_case_says_no(const struct instance *instance, int err);

#endif
