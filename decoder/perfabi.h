/* SPDX-License-Identifier: MIT */
/*
 * libperfabi: perf's recordings as JSON Lines. perfabi_new() loads the layouts, once.
 * perfabi_decode() reads a recording from a descriptor and hands its lines to a sink;
 * perfabi_attrs() gives its attrs alone. Everything that they need is in their arguments. They open
 * no event, and several threads may call them with one struct perfabi.
 */
#ifndef PERFABI_H
#define PERFABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the bytes are. By default the beginning of the input tells. */
enum perfabi_format {
	PERFABI_AUTO,
	PERFABI_PERF_DATA, /* what perf record writes, to a file or a pipe */
	PERFABI_RING,      /* the mmap area: metadata page and 2^n data pages */
	PERFABI_RECORDS,   /* records alone */
};

enum perfabi_order { PERFABI_HOST, PERFABI_LITTLE, PERFABI_BIG };

/* All zero is a good beginning. Texts and lists are the caller's. */
struct perfabi_options {
	enum perfabi_format format;
	enum perfabi_order order; /* of a ring or records; a perf.data says its own */
	const char *machine;   /* whose registers, as uname -m names it; NULL: the recording says,
				* or this machine's */
	const char *attr;      /* JSON of the attrs of a ring or records: an object of fields, or
				* {"attr": {...}, "ids": [...]}, or a list of these; not looked
				* at for a perf.data, which has its own */
	const char *attr_name; /* what to call that JSON in messages */
	const char *const *types; /* the record types to write, in any case; NULL: all */
	size_t type_count;
	const char *const *fields; /* the members to write beside type; NULL: all */
	size_t field_count;
	bool header_only;
	bool no_summary;
	bool check;             /* findings instead of records */
	bool bytes;             /* each member's [offset, length] in the record, under "at" */
	unsigned jobs;          /* threads, with the caller's; 0 is 1 */
	unsigned shard, shards; /* the shard-th (from 1) of so many; shards 0: all */
};

/* What came of it; of shards, the sums over all of them are those of the whole. */
struct perfabi_result {
	uint64_t errors, warnings, notes; /* diagnostics of each grade */
	uint64_t records;
	uint64_t lost;      /* records that LOST says are missing */
	bool bad_options;   /* the call failed for its options, before it read anything */
	char message[1024]; /* if the call failed: why, without a newline */
};

struct perfabi;

/*
 * Loads the layouts: of the folder `cases`, or if that is NULL those built in. Free with
 * perfabi_free(). NULL if that fails, with the reason in `message`, which may be NULL, and errno:
 * ENOMEM, or EINVAL for what is wrong with `cases`.
 */
struct perfabi *perfabi_new(const char *cases, char *message, size_t size);
void perfabi_free(struct perfabi *perfabi);

/*
 * Decodes from `fd`, which stays open. `sink` takes text in pieces, in order, and returns 0 or a
 * negative errno, which ends the decoding. Returns
 *   0        the input was read to its end; result->errors says how well
 *   -EINVAL  the options are wrong, or this is no such input
 *   other    a negative errno of reading, or what the sink returned
 */
int perfabi_decode(const struct perfabi *perfabi, int fd, const struct perfabi_options *options,
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

#endif
