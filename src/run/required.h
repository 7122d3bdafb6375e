/* SPDX-License-Identifier: MIT */
/*
 * Tokens that name a case, "case.machine.quiet.bpf": it is run, there and then, and must come out
 * as it should. That is how a case asks for what only a behaviour can tell.
 */
#ifndef PERFABI_REQUIRED_H
#define PERFABI_REQUIRED_H

#include "run/child.h"

/*
 * Runs it in a process of its own, for `timeout` seconds at most, and waits. Whether the token is
 * met: a conformance case has passed, a capability is there. If not, `found` says what came. A
 * capability whose outcome does not foresee what came keeps no case from telling of it: it is met.
 */
bool required_case_met(const struct cases *cases, struct environment *env, const char *token,
		       enum identity as, const struct surroundings *surroundings, uid_t uid,
		       double timeout, char *found, size_t size);

/*
 * Whether a failure with that errno (0: of something else) can be of what the case says no to: one
 * of the errnos of its outcome, where it names them alone.
 */
bool required_case_says_no(const struct instance *instance, int err);

#endif
