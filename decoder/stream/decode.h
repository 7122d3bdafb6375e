/* SPDX-License-Identifier: MIT */
/*
 * One recording, from its first byte to its last: what it is, and its header line (begin.c), then
 * its records (decode.c). Whoever decodes calls, in this order, decoder_init(), input_open() of
 * d->part->in, decoder_find_format(), decoder_begin(), decoder_step() while there is more,
 * decoder_end() and decoder_free(); where one fails, decoder_end() if decoder_init() did not, and
 * decoder_free().
 */
#ifndef PERFABI_DECODE_H
#define PERFABI_DECODE_H

#include "abi/attr.h"
#include "input/input.h"
#include "stream/damage.h"
#include "stream/lines.h"
#include "stream/perfdata_header.h"

/* What a decoder comes upon, in order, for who takes it one by one instead of as lines. */
struct find {
	const unsigned char *bytes; /* of whole records, one at least; good until the next step */
	size_t size;
	struct place place;
	struct diagnostic *wrong; /* instead */
};

struct finds {
	struct find *list;
	size_t first, count, capacity; /* list[first] to list[count - 1] wait */
};

void finds_free(struct finds *finds);

/* The oldest that waits; NULL: none does. */
static inline struct find *finds_oldest(struct finds *finds)
{
	return finds->first < finds->count ? &finds->list[finds->first] : NULL;
}

/* Forgets the oldest. What it points to is good no longer. */
void finds_drop(struct finds *finds);

enum { FILL = 80 * 1024 }; /* of the window, before records are looked for */

/* What is asked for; all zero is a good beginning. Texts and lists are the caller's. */
struct decode_options {
	struct perfabi_options api; /* those that are not below; `join` with `output`, too */
	bool arch_is_given;         /* the recording has no say in with.arch */
	struct lines_options lines;
	struct plan_for with; /* of records: which fields, with what numbers, whose registers */
	bool no_header;
	struct finds *finds; /* takes records and what is wrong, and no line is written; one
			      * thread, all of the input. NULL: nobody asked */
};

/* Of each file of a directory as much as a window of the smallest records with a time. */
enum { SORT_BYTES = 256 * 1024 * 1024, SORT_BYTES_A_PART = 10 * INPUT_WINDOW };

/*
 * Records in the order of their time, as perf sorts them: what came before FINISHED_ROUND is older
 * than what comes behind the next one. All zero but for `most`, `put` and `to` to begin with.
 */
struct sorter {
	struct waiting {
		uint64_t time, order;
		unsigned char *bytes;
		size_t size;
		struct place place;
	} * list;
	size_t count, capacity, bytes;
	uint64_t order, newest, round,
		written;         /* the last round's newest; the last that went out */
	uint64_t most;           /* bytes that wait at most */
	uint64_t late;           /* records that came when newer ones had gone out, ... */
	struct place first_late; /* ... the first of them */
	/* Takes a record. 0 or a negative errno, which stays. */
	int (*put)(void *to, const unsigned char *bytes, size_t size, struct place place);
	void *to;
};

void sort_free(struct sorter *sorter);

/* A record of that time; it is copied. 0, -ENOMEM, or what `put` returned. */
int sort_add(struct sorter *sorter, uint64_t time, const unsigned char *bytes, size_t size,
	     struct place place);

/* At FINISHED_ROUND. The same. */
int sort_round(struct sorter *sorter);

/* Puts all that waits. The same. */
int sort_end(struct sorter *sorter);

/* AUX data in files of its own, as decoders of traces take it: ptdump, libipt, OpenCSD. */
struct aux {
	int dir, index; /* -1: not open */
	struct table seen;
	struct arena arena;
	unsigned char record[64]; /* the AUXTRACE in front of the data that comes next */
};

/* The record whose data is being decompressed. */
struct piece {
	bool active;
	const unsigned char *input; /* what is left of it */
	size_t left;
	struct place place;
};

/* One file of the recording, and how far it is read. */
struct part {
	struct input in;
	int fd;         /* of a directory's, while it is its turn, ... */
	struct stat st; /* ... and what it was when it was opened last */
	enum { IS_OPEN, NOT_OPEN, AT_END } state;
	unsigned number; /* as place.part */
	uint64_t time;   /* of the last record that has one, if they are sorted */
	size_t wanted;   /* bytes of a pipe that the next step needs; of a file, FILL at least */
	struct decompress decompress;
	struct piece piece;
	uint64_t follow; /* bytes behind the last record that are to be skipped */
	struct place follow_place;
	/* What they are: tracing data behind a record or in one, AUX data; 0: nobody wants them. */
	enum { FOLLOWS = 1, IN_LARGE, AUX_DATA } collects;
	struct damage damage, inner; /* of the file, and of the compressed stream */
};

struct decoder {
	struct decode_options options;
	struct events events;
	struct parts parts;      /* of a directory */
	struct part data, *more; /* the only file, or `data`; data.N, parts.count of them */
	struct part *part;       /* that is read now */
	struct part **turns;     /* a heap of those of a directory that have more, by their time */
	size_t turn_count;
	struct sorter sorter;
	unsigned round_type; /* type_index() of FINISHED_ROUND */
	struct out out;
	struct lines lines;
	struct jobs *jobs;
	int (*sink)(void *, const char *, size_t);
	void *context;
	struct aux aux;             /* where AUX data goes */
	enum perfabi_format format; /* what it is: */
	struct perfdata file;       /* one of these three, ... */
	struct ring ring;
	const struct attr_list *attrs; /* ... and the attrs of a ring or of records */
	uint8_t role[TYPES];  /* what else is to be done with a record; decode.c. 0: nothing */
	uint64_t first, last; /* the shard's range of file offsets */
	const char *option;   /* of options.api: the one that is wrong or wanting; or NULL */
	char message[1024];   /* why a call failed, if `e` does not say */
};

/* With threads and buffers. `base`, by events_init(), must outlive it. 0 or -ENOMEM. */
int decoder_init(struct decoder *d, const struct events *base, const struct decode_options *options,
		 int (*sink)(void *context, const char *text, size_t size), void *context);

/* Opens `data` or a part of d->more, or opens it again. 0 or a negative errno. */
int decoder_open_part(struct decoder *d, struct part *part);

/* Learns from the input's first bytes what it is: d->format. 0, or a negative errno. */
int decoder_find_format(struct decoder *d, struct error *e);

/* Writes the header; of a ring or records by d->attrs. 0, or a negative errno. */
int decoder_begin(struct decoder *d, struct error *e);

/*
 * The next records: one window's at most, or of one part of compressed data. *more: it is not all
 * yet. 0 or a negative errno.
 */
int decoder_step(struct decoder *d, bool *more);

/* Behind all else, which came to `err`: waits for threads, adds their sums, writes the summary.
 * Returns `err`, or 0 or what failed now. */
int decoder_end(struct decoder *d, int err, struct lines_sums *sums);
void decoder_free(struct decoder *d);

/* Opens the folder, which is made if it is not there, for aux-idxN.bin and index.jsonl, none of
 * which may be there. 0 or a negative errno; close with aux_close() in any case. */
int aux_open(struct aux *aux, const char *dir);
void aux_close(struct aux *aux);

/*
 * Appends d->part->follow bytes of the input, which follow d->aux.record, to the file of its idx,
 * and a line to the index. *taken is how many there were. 0 or a negative errno.
 */
int aux_take(struct decoder *d, uint64_t *taken);

/* Between begin.c and decode.c: says why the call failed, in d->message. Returns `err`. */
int decoder_fail(struct decoder *d, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Between them, too: takes missing formats from options->tracefs. 0 or a negative errno. */
int decoder_tracefs(struct decoder *d);

#endif
