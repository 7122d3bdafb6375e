/* SPDX-License-Identifier: MIT */
/*
 * Outcomes are never merged: an error is the harness's or the case's, a failure the kernel's.
 */
#include "language/verdict.h"

#include <stdio.h>

const char *const outcome_names[OUTCOMES + 1] = {"pass",  "fail",  "unstable", "skip",
						 "xfail", "xpass", "error"};

bool verdict_set(struct verdict *v, enum outcome outcome, const char *expected, const char *got)
{
	v->outcome = (int)outcome;
	snprintf(v->expected, sizeof(v->expected), "%s", expected);
	snprintf(v->got, sizeof(v->got), "%s", got);
	return false;
}

bool outcome_is_bad(int outcome)
{
	return outcome == FAIL || outcome == UNSTABLE || outcome == XPASS || outcome == ERROR;
}
