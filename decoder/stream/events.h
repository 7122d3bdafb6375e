/* SPDX-License-Identifier: MIT */
/*
 * The events of a recording: their attrs, the ids that records name them by, and for each kind of
 * attr (the fields that layouts ask for being equal) the plans of all records. And what is known
 * of a record that was taken from the input.
 */
#ifndef PERFABI_EVENTS_H
#define PERFABI_EVENTS_H

#include <pthread.h>

#include "abi/attr.h"
#include "plan/format.h"
#include "text/table.h"

/*
 * Record types that there can be: the kernel's are below 64, perf's above, simpleperf's from 32768
 * on; none is 0. Tables of them have TYPES places, and type_index() is a type's.
 */
enum { TYPES = 512, TYPES_OF_SIMPLEPERF = 32768 };

static inline unsigned type_index(uint32_t type)
{
	if (__builtin_expect(type < TYPES / 2, 1))
		return type;
	type -= TYPES_OF_SIMPLEPERF;
	return type < TYPES / 2 ? type + TYPES / 2 : 0;
}

enum { SHAPES_MAX = 64, EVENTS_MAX = 65536, IDS_MAX = 1 << 19, USES_MAX = 16 };

/* What events_find() answers when there is no event. */
enum { EVENT_NONE = -1, EVENT_UNKNOWN = -2, EVENT_GUESSED = -3 };

/* The attrs that share one set of plans, each made when the first such record comes. */
struct shape {
	uint64_t key[USES_MAX];
	unsigned char *attr; /* one of them, in the host's order */
	struct plan_for with;
	pthread_mutex_t making;
	struct plan **plans; /* by slot; NULL: not made yet. Set once, by whoever holds `making` */
	int sample_id;       /* offset of the id in a SAMPLE, or -1 */
	int tail_id;         /* bytes from a record's end to the id in its sample_id, or -1 */
	int sample_time, tail_time; /* likewise of the time */
	uint32_t tail;              /* size of the sample_id, ... */
	uint64_t tail_names;        /* ... and what stands for its members */
};

/* An id that two attrs have. */
struct id_clash {
	bool found, said;
	uint64_t id;
	int first, second;
};

struct events {
	const struct abi *abi;
	bool arch_is_given; /* by --machine: the recording has no say */
	enum byte_order order;
	struct plan_for with; /* what plans are made for, but for the attr */
	const struct abi_field *uses[USES_MAX];
	size_t use_count;

	struct {
		const struct abi_family *family;
		const struct abi_value *value;
		uint32_t uses; /* fields of the attr but for the sample_id: bits of uses[] */
	} records[TYPES];
	size_t record_count;                   /* slots */
	int slot_of[TYPES];                    /* by type_index(); -1: no such record */
	bool is_sample[TYPES], is_tool[TYPES]; /* likewise */
	struct shape *bare; /* what perf's own records are read by: no attr has a say there */

	struct shape *shapes[SHAPES_MAX];
	size_t shape_count;
	struct {
		struct shape *shape;
		struct event_name *name;
		uint64_t type, config, period; /* period: of a frequency 1 */
		bool is_traced;                /* a tracepoint with raw data ... */
		const struct format *format;   /* ... and its format; NULL: none is known */
	} * list;
	size_t formatless; /* tracepoints without a format */
	size_t types_told; /* lines of simpleperf's that name events */
	struct formats formats;
	size_t count, capacity;
	struct table ids; /* of event + 1 */
	bool no_ids_said;
	/* Takes the attrs, each with its ids: all that is read of a file. NULL: nobody asked. */
	json_t **found;
	unsigned changes;           /* how often something above became another */
	bool is_backward;           /* some write a buffer from its end on */
	struct id_clash clashes[2]; /* the first of two attrs alike, and of two that differ */
};

/* What is the same for all recordings. 0 or a negative errno, with `e` filled if not -ENOMEM. */
int events_init(struct events *events, const struct abi *abi, struct error *e);
void events_free(struct events *events);

/*
 * The events of one recording, by what events_init() made, and of `with` all but the abi and the
 * attr. 0 or -ENOMEM. `base` must outlive it.
 */
int events_begin(struct events *events, const struct events *base, const struct plan_for *with);

/* The paths of all fields of all records. 0 or -ENOMEM. Free with paths_free() in any case. */
int events_gather(const struct events *events, struct paths *paths);

/*
 * Adds an event by the bytes of its attr in events->order. Returns its index, or a negative errno
 * with `e` filled: no memory, or more kinds of attrs than SHAPES_MAX.
 */
int events_add(struct events *events, const unsigned char *attr, size_t size, struct error *e);

/* The field of an attr of `size` bytes in events->order; 0: it has none. */
uint64_t events_attr(const struct events *events, const unsigned char *attr, size_t size,
		     const char *name);

/* Gives each tracepoint with raw data its format, behind each change of events->formats. */
void events_set_formats(struct events *events);

/* The recording's architecture, once it is known: plans that were made before are made anew. */
void events_set_arch(struct events *events, const struct abi_arch *arch);

/*
 * Says that records with `id` are of that event; the last to be said of an id counts, and that it
 * is not the first is noted in events->clashes. 0, -ENOMEM, or -E2BIG past IDS_MAX.
 */
int events_add_id(struct events *events, uint64_t id, int event);

/* The event whose id that is, or EVENT_UNKNOWN. */
int events_of_id(const struct events *events, uint64_t id);

/* type_index() of the type in a record's header, and the size. */
static inline unsigned record_type(const struct events *events, const unsigned char *bytes)
{
	return type_index((uint32_t)load_word(bytes, 4, events->order));
}

static inline uint16_t record_size(const struct events *events, const unsigned char *bytes)
{
	return (uint16_t)load_word(bytes + 6, 2, events->order);
}

/* The time of a record of that type_index(), 0 if it has none. 0 or -ENOMEM. */
int events_time(const struct events *events, unsigned type, const unsigned char *bytes, size_t size,
		uint64_t *time);

/* Whether the sample_id of records hangs on which attr is theirs. */
bool events_differ(const struct events *events);

/* Makes the plan of a slot's records in that shape, if nobody has yet. NULL: no memory. */
const struct plan *events_make_plan(const struct events *events, struct shape *shape, int slot);

/* The same, which is there already for all but the first. May be called by threads. */
static inline const struct plan *events_plan(const struct events *events, struct shape *shape,
					     int slot)
{
	const struct plan *plan = __atomic_load_n(&shape->plans[slot], __ATOMIC_ACQUIRE);

	if (__builtin_expect(plan != NULL, 1))
		return plan;
	return events_make_plan(events, shape, slot);
}

/*
 * The event of a record of that type_index(), EVENT_NONE if it names none, EVENT_GUESSED if it
 * names none and the attrs do not agree on what is in it, EVENT_UNKNOWN if nobody has the id it
 * names. *shape is set to what to read it by: the event's, or the first there is; NULL if there is
 * none or, for a sample of unknown id, more than one that it could be.
 */
int events_find(const struct events *events, unsigned type, const unsigned char *bytes, size_t size,
		struct shape **shape);

/* A place in the input: of the file, and in the stream that a compressed record began, or -1. */
struct place {
	uint64_t offset;
	int64_t within;
	unsigned part; /* of a recording that is a directory: the file data.N, plus 1 */
};

static inline struct place place_at(uint64_t offset)
{
	return (struct place){.offset = offset, .within = -1};
}

/* To what stands `n` bytes behind it. */
static inline void place_advance(struct place *place, size_t n)
{
	if (place->within >= 0)
		place->within += (int64_t)n;
	else
		place->offset += n;
}

enum { MISC_CPUMODE = 7 }; /* the bits of misc that are a number: PERF_RECORD_MISC_CPUMODE_MASK */

/* What becomes of a record. */
enum lines_taken {
	LINES_PASSED_BY, /* its type is not asked for */
	LINES_RAW,       /* nothing describes it */
	LINES_BY_PLAN,
};

struct lines_record {
	uint8_t taken;  /* enum lines_taken */
	uint16_t index; /* type_index() of the type */
	uint32_t type;
	uint16_t misc, size;
	int slot;                /* of its type; -1: it is not known */
	int event;               /* its index; negative: none, or it is not known */
	uint32_t kind;           /* those of one differ in nothing but their size; from 1 on */
	const struct plan *plan; /* or NULL */
	struct head *head;       /* or NULL */
};

#endif
