/* SPDX-License-Identifier: MIT */
/*
 * Samples as a profile: folded stacks, pprof's protobuf, or what profiler.firefox.com reads.
 */
#ifndef PERFABI_PROFILE_H
#define PERFABI_PROFILE_H

#include "stream/join.h"
#include "text/out.h"

struct profile;

/* Of the samples of that event alone, or of the first that has any; pprof has all of them where it
 * is NULL. NULL: no memory. `events` and `event` must outlive it. */
struct profile *profile_new(enum perfabi_output output, const char *event,
			    const struct events *events);
void profile_free(struct profile *profile);

/* Takes a sample. 0 or -ENOMEM. */
int profile_add(struct profile *profile, const struct joined *joined);

bool profile_has_samples(const struct profile *profile);

/* Writes all of it. 0, -ENOMEM or what the sink returned. */
int profile_end(struct profile *profile, struct out *out);

#endif
