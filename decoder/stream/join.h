/* SPDX-License-Identifier: MIT */
/*
 * Samples with what other records say of them: the thread's name, and for each address which file
 * was mapped there, and where in it (what is mapped where is maps.c). And such samples as a
 * profile: folded stacks, pprof's protobuf, or what profiler.firefox.com reads.
 */
#ifndef PERFABI_JOIN_H
#define PERFABI_JOIN_H

#include "include/perfabi.h"
#include "stream/events.h"
#include "text/out.h"

/* A file, or what else has a name. */
struct object {
	const char *name;
	const char *build_id; /* hexadecimal; "": not known */
	uint64_t number;      /* from 0 on, in the order of their coming */
};

struct map {
	uint64_t start, end; /* up to, but not, `end` */
	uint64_t pgoff;
	const struct object *object;
	/* Of the tree. */
	uint64_t priority;
	unsigned refs;
	struct map *left, *right;
};

/* NULL is an empty space. Another reference to the same, to be dropped: copies share what they have
 * in common, so that a fork costs nothing. */
struct map *maps_share(struct map *maps);
void maps_drop(struct map *maps);

/*
 * Maps an object over whatever was there. 0, or -ENOMEM with parts of the space lost. `priority` is
 * a random number.
 */
int maps_add(struct map **maps, uint64_t start, uint64_t end, uint64_t pgoff,
	     const struct object *object, uint64_t priority);

/* Takes away what begins at `start`. 0 or -ENOMEM. */
int maps_remove(struct map **maps, uint64_t start);

/* What is at the address; NULL: nothing. */
const struct map *maps_find(const struct map *maps, uint64_t address);

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
	bool is_cut; /* the rest of the call chain, which comes later, is not waited for */
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
int join_build_ids(struct join *join, const unsigned char *bytes, size_t size);

/* Writes what is known of a sample as members, each with a comma behind; at most so many bytes. */
size_t join_longest(const struct joined *joined);
char *join_put(const struct joined *joined, bool is_flat, char *p);

struct profile;

/* Of the samples of that event alone, or of the first in the list that has any; pprof has all where
 * it is NULL. NULL: no memory. `events` and `event` must outlive it. */
struct profile *profile_new(enum perfabi_output output, const char *event,
			    const struct events *events);
void profile_free(struct profile *profile);

/* Takes a sample. 0 or -ENOMEM. */
int profile_add(struct profile *profile, const struct joined *joined);

/* Writes all of it. 0, 1 if no sample was of the event, -ENOMEM or what the sink returned. */
int profile_end(struct profile *profile, struct out *out);

#endif
