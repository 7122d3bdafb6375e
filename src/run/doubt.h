/* SPDX-License-Identifier: MIT */
/*
 * Whether a failure is the kernel's: what somebody else did to the machine meanwhile makes it
 * another's, and so does what does not come again.
 */
#ifndef PERFABI_DOUBT_H
#define PERFABI_DOUBT_H

#include "run/runner.h"

/* How often the kernel has killed for want of memory since it booted; 0 where it does not say. */
unsigned long doubt_oom_kills(void);

/*
 * Looks whether somebody else has changed a sysctl, but for those that a case may have changed;
 * cases go by what it is from then on.
 */
void doubt_watch_sysctls(struct runner *r, const struct sysctl_set *ours);

/*
 * A sysctl that somebody else changed while the case ran: what it found is of neither machine. The
 * sample rate is lowered by the kernel itself at times: a case that has passed all the same did not
 * hang on it. Whether the result is void now.
 */
bool doubt_void_if_moved(const struct runner *r, const struct worker *w, struct result *result);

/* Why a failure may be of another machine than the case was made for, or NULL. */
const char *doubt_what_happened(const struct runner *r, const struct worker *w);

/* What failed and then passes: somebody may have been in the way for a moment. */
void doubt_skip_if_unconfirmed(const struct worker *w, struct result *result);

/* Whether a failure may be not the kernel's doing still: the kernel's own comes each time. */
bool doubt_runs_again(struct runner *r, struct worker *w, struct result *result);

#endif
