/* SPDX-License-Identifier: MIT */
/*
 * libperfabi: perf's recordings as lines of JSON, or record by record as fields. perfabi_new()
 * loads the layouts, once. Input is a descriptor, a block of memory, or a ring buffer that the
 * kernel is writing. The library opens no event.
 *
 * Threads: nothing changes a struct perfabi after perfabi_new(), and any number of threads may use
 * one at the same time. A struct perfabi_reader belongs to one thread at a time.
 *
 * Errors: functions return 0 or a negative errno, and say in words what was wrong in
 * perfabi_result.message. The library prints nothing, ends no process and changes no signal.
 *
 * Ownership: what the caller passes stays the caller's. What is to be freed, and how long other
 * things live, stands with each function.
 *
 * Compatibility: libraries with the same soname have these functions, with the structs as they are
 * here. The caller's structs end in a reserve, which has to be zero. Those that the library hands
 * out may get more members at their end; so may enums.
 */
#ifndef PERFABI_H
#define PERFABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERFABI_VERSION_MAJOR 0
#define PERFABI_VERSION_MINOR 1
#define PERFABI_VERSION_PATCH 0
#define PERFABI_VERSION_TEXT "0.1.0"
/* To be compared: 10000 for each major, 100 for each minor. */
#define PERFABI_VERSION                                                                            \
	(PERFABI_VERSION_MAJOR * 10000 + PERFABI_VERSION_MINOR * 100 + PERFABI_VERSION_PATCH)

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* PERFABI_VERSION of the library that runs, which may differ from that of this header. */
unsigned perfabi_version(void);

/* What the bytes are. By default the beginning of the input tells. */
enum perfabi_format {
	PERFABI_AUTO,
	PERFABI_PERF_DATA, /* what perf record writes, to a file or a pipe */
	PERFABI_RING,      /* the mmap area: metadata page and 2^n data pages */
	PERFABI_RECORDS,   /* records alone */
};

/* What is made of the records. */
enum perfabi_output {
	PERFABI_LINES,   /* of JSON */
	PERFABI_FOLDED,  /* stacks, as flamegraph.pl takes them: comm;main;f 12 */
	PERFABI_PPROF,   /* the protobuf of pprof, not compressed */
	PERFABI_FIREFOX, /* JSON that profiler.firefox.com opens */
};

enum perfabi_order { PERFABI_HOST, PERFABI_LITTLE, PERFABI_BIG };

enum { PERFABI_JOBS_MAX = 1024 };

/* All zero is a good beginning; so is NULL in its place. Texts and lists are the caller's. */
struct perfabi_options {
	enum perfabi_format format;
	enum perfabi_order order; /* of a ring or records; a perf.data says its own */
	const char *machine;   /* whose registers, as uname -m names it; NULL: the recording says,
				* or this machine's */
	const char *attr;      /* JSON of the attrs of a ring or records: an object of fields, or
				* {"attr": {...}, "ids": [...]}, or a list of these; not looked
				* at for a perf.data, which has its own */
	const char *attr_name; /* what to call that JSON in messages */
	const char *const *types; /* the record types that are wanted, in any case; NULL: all */
	size_t type_count;
	const char *const *fields; /* the members that are wanted beside type; NULL: all */
	size_t field_count;

	/* Of lines alone. */
	bool header_only;
	bool no_summary;
	bool check;    /* findings instead of records */
	bool bytes;    /* each member's [offset, length] in the record, under "at" */
	bool pieces;   /* the sink takes lines in pieces of any length: a header line of
			* megabytes is then nowhere whole in memory */
	bool sort;     /* records in the order of their time, as perf sorts them */
	bool flat;     /* each value as a member of one type, as tables are read from: addresses,
			* masks and constants are numbers, sample_id.time is sample_id_time */
	bool join;     /* sort, and samples with comm and frames: the file, its build ID and
			* the place in it of each address; deferred call chains joined */
	unsigned jobs; /* threads, with the caller's: 1 to PERFABI_JOBS_MAX; 0 is 1 */
	unsigned shard, shards; /* the shard-th (from 1) of so many; shards 0: all */
	const char *tracefs; /* a folder, /sys/kernel/tracing: with the formats of tracepoints that
			      * the recording has none of; NULL: nobody looks there */
	const char *aux;     /* a folder: AUX data goes to a file for each buffer, aux-idxN.bin,
			      * with an index; NULL: it is passed over */
	enum perfabi_output output; /* of join; profiles are of one event */
	bool value_names;  /* values of tracepoints' fields by the names that their print fmt has;
			    * not with flat */
	const char *event; /* of profiles; NULL: the first attr that has samples; pprof: all */
	/* Names what is at that offset of a file: the length of the name, with a NUL behind it in
	 * `size` bytes; 0: it has none. NULL: nobody does. */
	int (*symbol)(void *context, const char *object, const char *build_id, uint64_t offset,
		      char *name, size_t size);
	void *symbol_context;

	uint64_t reserved[8]; /* zero */
};

/* What came of it; of shards, the sums over all of them are those of the whole. */
struct perfabi_result {
	uint64_t errors, warnings, notes; /* diagnostics of each grade */
	uint64_t records;
	uint64_t lost;        /* records that LOST says are missing */
	const char *option;   /* if the call failed for a member of perfabi_options that is wrong,
			       * or missing: its name. It lives as long as the library */
	uint64_t reserved[8]; /* zero */
	char message[1024];   /* if the call failed: why, without a newline */
};

struct perfabi;

/*
 * Loads the layouts: of the folder `cases`, or if that is NULL those built in. Free with
 * perfabi_free(), after all readers that were opened with it. NULL if that fails, with the reason
 * in `message`, which may be NULL and has room for `size` bytes, and errno: ENOMEM, or EINVAL for
 * what is wrong with `cases`.
 */
struct perfabi *perfabi_new(const char *cases, char *message, size_t size);
void perfabi_free(struct perfabi *perfabi);

/*
 * Decodes from `fd`, which stays open, to lines of JSON; of a directory that `perf record
 * --threads` wrote, the files in it, sorted. `sink` takes them in order, one or more whole lines a
 * call, each with its newline, and returns 0 or a negative errno, which ends the decoding; a
 * positive number ends it with -ECANCELED. It is called by the thread that called perfabi_decode().
 * The text is good until it returns. `options` and `result` may be NULL. Returns
 *
 *   0        the input was read to its end; result->errors says how well
 *
 *   -EINVAL  the options are wrong, or this is no such input
 *
 *   other    a negative errno of reading, or what the sink returned
 *
 * If it fails, the lines so far are a correct beginning of the whole.
 */
int perfabi_decode(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		   int (*sink)(void *context, const char *text, size_t size), void *context,
		   struct perfabi_result *result);

/* The same of `size` bytes in memory. */
int perfabi_decode_memory(const struct perfabi *perfabi, const void *bytes, size_t size,
			  const struct perfabi_options *options,
			  int (*sink)(void *context, const char *text, size_t size), void *context,
			  struct perfabi_result *result);

/*
 * The attrs of a recording as JSON, indented, in the form that perfabi_options.attr takes: of a
 * file no more than its header is read, but a pipe has them among its records. Bytes that are no
 * perf.data are taken for those of one struct perf_event_attr. Of the options `order` (of such an
 * attr) and `machine` count. Returns as perfabi_decode(); if that is 0, *text is to be freed with
 * free(), and where result->errors is not 0 there may be more attrs than these.
 */
int perfabi_attrs(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		  char **text, struct perfabi_result *result);

/* The same of `size` bytes in memory. */
int perfabi_attrs_memory(const struct perfabi *perfabi, const void *bytes, size_t size,
			 const struct perfabi_options *options, char **text,
			 struct perfabi_result *result);

/* What a field is. */
enum perfabi_kind {
	PERFABI_UNSIGNED = 1, /* a number of `width` bytes, 1 to 8 */
	PERFABI_HEX,          /* the same, an address, a mask or opaque: "0x..." in lines */
	PERFABI_SIGNED,       /* `value` is an int64_t */
	PERFABI_DOUBLE,       /* `value` has the bits of a double */
	PERFABI_BITS,         /* `width` bits of the word at `offset` */
	PERFABI_STRING,       /* `value` bytes, and NULs behind them up to `size` */
	PERFABI_BYTES,        /* `value` bytes that mean something, and padding up to `size` */
	PERFABI_OPAQUE,       /* bytes of which lines tell the count alone */
	PERFABI_ATTR,         /* struct perf_event_attr, of `size` bytes */
	PERFABI_ARRAY,        /* `value` numbers of `width` bytes, each of kind `element` */
	PERFABI_LIST,         /* `value` elements, whose fields follow */
	PERFABI_INDEX,        /* the element's place in its list, which has a name; no bytes */
};

/* A field of a record. */
struct perfabi_field {
	uint32_t number; /* perfabi_field_name() has its name */
	uint32_t offset; /* in the record, of its first byte; of an array that has its count in
			  * front, of that */
	uint32_t size;   /* bytes that it takes */
	uint8_t kind;    /* enum perfabi_kind */
	uint8_t width;
	uint8_t element;
	uint8_t reserved;
	uint32_t own[2]; /* the library's */
	uint64_t value;  /* in this machine's byte order, as the kind says; 0 where it does not */
};

enum perfabi_what { PERFABI_RECORD, PERFABI_DIAGNOSTIC };

enum perfabi_grade { PERFABI_ERROR, PERFABI_WARNING, PERFABI_NOTE };

/*
 * A record as its bytes and fields; or in its place among the records, that something is wrong. It
 * may be copied; what it points to stays the reader's.
 */
struct perfabi_record {
	uint32_t what;  /* enum perfabi_what */
	uint32_t order; /* PERFABI_LITTLE or PERFABI_BIG: that of `bytes` */
	uint32_t type;  /* as in the header of the record, like the next two */
	uint16_t misc;
	uint16_t size;              /* bytes, with the header */
	const unsigned char *bytes; /* all of them */
	const char *name;           /* "SAMPLE"; "UNKNOWN". Of a diagnostic its code: "truncated" */
	int32_t event;              /* the index of its attr among those of the recording, or -1 */
	uint32_t grade;             /* of a diagnostic: enum perfabi_grade */
	uint64_t offset; /* of the first byte in the input; if it was compressed, of the record
			  * that had it, ... */
	int64_t within;  /* ... and its place in the uncompressed stream; else -1 */
	const struct perfabi_field *fields; /* in the order of the bytes */
	size_t field_count;                 /* 0 where the record does not fit its layout */
	const char *message;                /* of a diagnostic; else NULL */
	uint64_t skipped;                   /* bytes that are in no record because of it */
	const void *own;                    /* the library's */
	uint32_t part; /* of a directory: 0 for the file `data`, N + 1 for data.N */
};

/*
 * Fields have the names that lines have, with a dot between an object and its member, and []
 * behind a list: "ip", "sample_id.time", "branch_stack.entries[].from". A name has one number, in
 * all records, as long as the struct perfabi lives; another has other numbers. 0 if no record has
 * such a field.
 */
uint32_t perfabi_field_number(const struct perfabi *perfabi, const char *name);

/* The name of a number; NULL: none has it. It lives as long as `perfabi`. */
const char *perfabi_field_name(const struct perfabi *perfabi, uint32_t number);

struct perfabi_reader;

/*
 * Opens a recording, to be read record by record. `fd` has to stay open until perfabi_close(). It
 * reads what perfabi_decode() reads, in the order of the files, and finds the same wrong with it.
 * Options that are of lines alone do not count, but those that need another order are refused:
 * `shards`, `sort`, `join`, `output` and `aux`. What a perf.data says of itself in its header is in
 * lines and perfabi_attrs() alone. Returns as perfabi_decode(); if that is 0, close *reader with
 * perfabi_close(). `perfabi` has to outlive it; options need not. `options` and `result` may be
 * NULL.
 */
int perfabi_open(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
		 struct perfabi_reader **reader, struct perfabi_result *result);

/* The same of `size` bytes in memory, which have to stay as they are until perfabi_close(). */
int perfabi_open_memory(const struct perfabi *perfabi, const void *bytes, size_t size,
			const struct perfabi_options *options, struct perfabi_reader **reader,
			struct perfabi_result *result);

/*
 * The same of a ring that the kernel is writing: `area` is what mmap(2) gave, for reading and
 * writing, of `size` bytes: the metadata page and 2^n data pages. options->attr has the attrs of
 * the events that write there. perfabi_next() gives what has been written and not yet been read,
 * then 0 until there is more, for which the caller waits as it likes: poll(2). It moves data_tail,
 * so that nobody else may read the ring meanwhile; the rest of `area` is not written.
 *
 * A ring that overwrites its oldest records has no data_tail: one that is mapped for reading alone,
 * or that an event with write_backward writes (-EINVAL). Of such, pause the output
 * (PERF_EVENT_IOC_PAUSE_OUTPUT) and call perfabi_open_memory() for what is there then, with the
 * format PERFABI_RING.
 */
int perfabi_open_ring(const struct perfabi *perfabi, void *area, size_t size,
		      const struct perfabi_options *options, struct perfabi_reader **reader,
		      struct perfabi_result *result);

/*
 * The next record or diagnostic. Returns 1 and sets *record, which with all it points to is good
 * until the next call with this reader; 0 where the input ends, or nothing more is in the ring; or
 * a negative errno, from then on always.
 */
int perfabi_next(struct perfabi_reader *reader, const struct perfabi_record **record);

/* The counts so far, and if a call failed, why. */
void perfabi_reader_result(const struct perfabi_reader *reader, struct perfabi_result *result);

/*
 * What the event of that index is called: "cycles:u", as perf wrote it down, or by its attr. NULL:
 * there is none. A record of the recording may rename it, so that it is good until the next call of
 * perfabi_next().
 */
const char *perfabi_event_name(const struct perfabi_reader *reader, int32_t event);

/* Of a ring, all that was handed out is read then: data_tail is behind it. NULL is none. */
void perfabi_close(struct perfabi_reader *reader);

/* The first field of that number; NULL if the record has none. */
const struct perfabi_field *perfabi_field(const struct perfabi_record *record, uint32_t number);

/*
 * The element `index` of a field of kind PERFABI_ARRAY, in this machine's byte order; a signed one
 * as an int64_t. 0 where there is none.
 */
uint64_t perfabi_element(const struct perfabi_record *record, const struct perfabi_field *field,
			 uint64_t index);

/*
 * The name that `value` has in that field, or if the field is a mask, that bit: "read". NULL if it
 * has none. It lives as long as the struct perfabi.
 */
const char *perfabi_value_name(const struct perfabi_record *record,
			       const struct perfabi_field *field, uint64_t value);

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
