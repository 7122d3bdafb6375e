/* SPDX-License-Identifier: MIT */
/*
 * Samples with what other records say of them: the thread's name, and for each address which file
 * was mapped there, and where in it. And such samples as a profile: folded stacks, pprof's
 * protobuf, or what profiler.firefox.com reads.
 */
#ifndef PERFABI_JOIN_H
#define PERFABI_JOIN_H

#include "include/perfabi.h"
#include "stream/maps.h"
#include "stream/events.h"
#include "text/out.h"

/* One address of a sample. */
struct frame {
	uint64_t ip;
	const struct object *object; /* NULL: nothing is known to be there */
	uint64_t offset;             /* in the object's file */
	const char *symbol;          /* NULL: not known */
};

struct joined {
	int event; /* as lines_record.event */
	int64_t pid, tid;
	uint64_t time, period;      /* if the sample has none 0, and the attr's */
	const char *comm;           /* ":1234" for a thread of that tid whose name is not known */
	const struct frame *frames; /* the innermost first */
	size_t frame_count;
};

struct join;

/* NULL: no memory. `events` and `options` must outlive it. */
struct join *join_new(const struct events *events, const struct perfabi_options *options);
void join_free(struct join *join);

/*
 * Takes a record that its plan describes, in the order of time. Of a sample, *joined is what is
 * known of it, good until the next call; else it is set to NULL. 0, -ENOMEM, or 1: its call chain
 * ends in a CALLCHAIN_DEFERRED that is still to come, and join_next() gives it behind that.
 */
int join_take(struct join *join, const struct lines_record *record, const unsigned char *bytes,
	      struct place place, const struct joined **joined);

/* A sample that was held. */
struct held {
	struct held *next;          /* of the same cookie, or that comes out behind it */
	struct held *older, *newer; /* of all that wait */
	struct lines_record record;
	struct place place;
	unsigned char bytes[];
};

/*
 * The next sample that was held and is not any more, to be taken again; NULL: there is none. It is
 * good until the next call. `at_end`: nothing else is to come.
 */
const struct held *join_next(struct join *join, bool at_end);

/* Takes the build IDs of files from the feature section BUILD_ID. 0 or -ENOMEM. */
int join_build_ids(struct join *join, const struct layout *layout, const unsigned char *bytes,
		   size_t size);

/* Writes what is known of a sample as members, each with a comma behind; at most so many bytes. */
size_t join_longest(const struct joined *joined);
char *join_put(const struct joined *joined, bool is_flat, char *p);

struct profile;

/* Of the samples of that event alone, or of the first that has any; pprof has all of them where it
 * is NULL. NULL: no memory. `events` and `event` must outlive it. */
struct profile *profile_new(enum perfabi_output output, const char *event,
			    const struct events *events);
void profile_free(struct profile *profile);

/* Takes a sample. 0 or -ENOMEM. */
int profile_add(struct profile *profile, const struct joined *joined);

/* Writes all of it. 0, 1 if no sample was of that event, -ENOMEM or what the sink returned.
 */
int profile_end(struct profile *profile, struct out *out);

#endif
