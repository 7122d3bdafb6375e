/* SPDX-License-Identifier: MIT */
/*
 * Whole records -> lines of JSON, in several threads too (jobs.c), and what is to be said of them
 * in the end: how many of each type, what was lost, what was wrong. And what events are called
 * there (names.c): as perf wrote it down (EVENT_DESC, EVENT_UPDATE) or simpleperf (meta_info), or
 * by their attr.
 */
#ifndef PERFABI_LINES_H
#define PERFABI_LINES_H

#include "input/input.h"
#include "plan/record.h"
#include "stream/events.h"
#include "text/out.h"

enum { GRADES = PERFABI_NOTE + 1 };

/* What to write of a record; the same for all of them. */
struct lines_options {
	bool notes;       /* --bytes */
	bool strict;      /* --check: findings too, ... */
	bool unwritten;   /* ... and diagnostics alone */
	bool silent;      /* records are neither counted nor written: another shard's */
	bool backward;    /* the newest record comes first, ... */
	bool cut_end;     /* ... and took the place of what the last one ended with */
	bool event_index; /* --fields with it */
	bool no_offset, no_size, no_misc, no_event, no_bytes; /* --fields without these */
	const bool *types; /* by type_index(), TYPES of them; [0]: what is unknown; NULL: all */
};

/* Counts, to be added up over workers. */
struct lines_sums {
	uint64_t records[TYPES]; /* by slot */
	uint64_t unknown, bytes;
	uint64_t lost, lost_samples;
	uint64_t diagnostics[GRADES], skipped;
	uint64_t passed_over; /* bytes behind AUXTRACE and its like */
};

/* What lines_diagnostic() says. */
struct diagnostic {
	struct place place;
	const char *code;
	enum perfabi_grade grade;
	uint64_t skipped;
	char message[256];
};

/* What follows from a record's type, misc and id alone. Few of them occur, which take turns. */
struct head {
	uint64_t word, id;          /* the header but for the size, as the bytes have it */
	struct lines_record record; /* its size is the last one's; no plan: it is free */
	uint16_t size, misc;        /* that the text has; where the size ends in it */
	size_t length;              /* of the text; 0: none yet */
	char text[256];             /* "size":40,"misc":["user"],"event":0, */
};

enum { HEADS = 64 };

/* Where all attrs have the id. */
struct id_place {
	int at;       /* from the record's start; negative: from its end */
	size_t least; /* size of a record that has it; SIZE_MAX: none has */
};

struct lines {
	const struct events *events;
	struct lines_options options;
	struct out *out;
	struct record record, raw; /* raw: for its raw data, and for what no line comes of */
	struct lines_sums sums;
	struct {
		char name[41]; /* SAMPLE */
		char text[64]; /* {"type":"SAMPLE","offset": */
		size_t length;
	} begin[TYPES + 1]; /* by slot, and behind them of a type that is not known */
	const struct abi_family *modes, *bits; /* of misc */
	/* What follows is of as many changes of events. */
	unsigned changes;
	struct again again[AGAIN]; /* for `record`, and for offsets and sizes */
	struct head heads[HEADS];
	struct lines_record unlike;          /* one that has no head */
	uint32_t kinds;                      /* of records so far */
	struct id_place sample_id, other_id; /* of samples; of what else names an event */
	struct out notes;                    /* of the record that is written */
	uint64_t *last_time;                 /* by cpu, for --check */
	/* Takes what is wrong, instead of a line. 0 or -ENOMEM. NULL: nobody does. */
	int (*say)(void *to, const struct diagnostic *wrong);
	void *say_to;
	size_t limit;      /* diagnostics to write from now on, the rest are counted; 0: all */
	size_t unsaid;     /* those that were counted */
	struct join *join; /* samples are joined with what others say; NULL: they are not */
	struct profile *profile; /* takes them, instead of lines; NULL: nobody does */
	size_t credit;           /* bytes that may be tried in vain as records; damage.c */
};

enum { LINES_CREDIT = 1024 * 1024 };

/* `events` and `out` must outlive it. */
void lines_init(struct lines *lines, const struct events *events,
		const struct lines_options *options, struct out *out);
void lines_free(struct lines *lines);

/* Writes the records in `size` bytes, each of them whole, the first one at `place`. */
void lines_put(struct lines *lines, const unsigned char *bytes, size_t size, struct place place);

/*
 * Takes one whole record as lines_put() does, but writes no line: its fields are in
 * lines->record.fields until the next record. That it does not fit its plan is said. What it
 * returns is good as long.
 */
const struct lines_record *lines_take(struct lines *lines, const unsigned char *bytes,
				      const struct place *place);

/* The samples that join held and holds no longer; `at_end`: no more records come. */
void lines_put_held(struct lines *lines, bool at_end);

/* Whether a whole record is one that its plan accounts for to the last byte; nothing is written. */
bool lines_fits(struct lines *lines, const unsigned char *bytes, size_t size);

/* One line that something is wrong; `skipped` bytes do not come out because of it. */
void lines_diagnostic(struct lines *lines, struct place place, const char *code, uint64_t skipped,
		      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* What events_add_id() noted and was not said before. */
void lines_id_clashes(struct lines *lines, struct events *events, struct place place);

/* ... and that nothing tells records of one attr from those of another, once. */
void lines_no_ids(struct lines *lines, struct events *events, struct place place);

/* ... and that tracepoints have no format. */
void lines_no_formats(struct lines *lines, const struct events *events, struct place place);

/* A record whose size is more than fits its header: that it is there, and its size. */
void lines_put_large(struct lines *lines, const unsigned char *bytes, uint64_t size,
		     struct place place);

void lines_add_sums(struct lines_sums *to, const struct lines_sums *from);

/* The last line. */
void lines_summary(struct lines *lines, const struct lines_sums *sums);

enum { EVENT_NAME_MAX = 256, EVENT_TEXT_MAX = 512 }; /* a longer name is not taken */

struct event_name {
	char name[EVENT_NAME_MAX];
	bool is_by_attr;
	size_t length;
	char text[EVENT_TEXT_MAX + PUT_KEY]; /* "event":"cycles:u", as put_key() copies it */
};

/* Names the event by its attr, `size` bytes in the events' order: "cpu-clock:u". 0 or -ENOMEM. */
int names_by_attr(struct events *events, int event, const unsigned char *attr, size_t size);

/*
 * By the feature section, or the record EVENT_UPDATE, of that value, from byte `from` on, if it
 * names events or the machine. 0 or -ENOMEM.
 */
int names_by(struct events *events, const struct abi_value *value, const unsigned char *bytes,
	     size_t from, size_t size);

/* Those that were named by their attr alone, by the formats of events->formats. 0 or -ENOMEM. */
int names_by_formats(struct events *events);

/* Writes the member "events": their names, by index. 0 or -ENOMEM. */
int names_put(const struct events *events, struct out *out);

/* Records to lines in several threads, and the lines out in the order of the records. */
struct jobs;

/*
 * `threads` of them, at least 2, the caller's own among them; fewer if the system gives no more.
 * NULL when there is no memory.
 */
struct jobs *jobs_start(unsigned threads, const struct events *events,
			const struct lines_options *options,
			int (*sink)(void *, const char *, size_t), void *context);

/* Whole records, of INPUT_WINDOW bytes at most, to be written behind all that was given before.
 * 0 or the sink's first error. */
int jobs_records(struct jobs *jobs, const unsigned char *bytes, size_t size, struct place place);

/* The same for the first `size` bytes of the input's window, which is given away if that is worth
 * it. */
int jobs_window(struct jobs *jobs, struct input *in, size_t size, struct place place);

/* Text, likewise; its form is that of a sink. */
int jobs_text(void *jobs, const char *text, size_t size);

/* Waits until all is written. Nothing reads the events from then on until more is given. */
int jobs_drain(struct jobs *jobs);

/* Drains, ends the threads, adds their sums. Returns the sink's first error. */
int jobs_end(struct jobs *jobs, struct lines_sums *sums);

#endif
