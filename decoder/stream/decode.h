/* SPDX-License-Identifier: MIT */
/*
 * One call of perfabi_decode(): between perfabi.c (options to result), begin.c (what the input is,
 * and its header line) and decode.c (its records).
 */
#ifndef PERFABI_DECODE_H
#define PERFABI_DECODE_H

#include "abi/attr_list.h"
#include "stream/damage.h"
#include "input/decompress.h"
#include "input/input.h"
#include "stream/jobs.h"
#include "stream/lines.h"
#include "perfabi.h"
#include "stream/perfdata_header.h"
#include "input/ring.h"
#include "stream/select.h"

enum { FILL = 80 * 1024 }; /* of the window, before records are looked for */

struct decoder {
	const struct perfabi_options *options;
	struct perfabi_result *result;
	const struct abi *abi;
	struct events events;
	struct input in;
	struct out out;
	struct lines lines;
	struct selection selection;
	struct jobs *jobs;
	int (*sink)(void *, const char *, size_t);
	void *context;
	struct decompress decompress;
	struct damage damage, inner; /* of the file, and of the compressed stream */
	struct perfdata file;        /* of what it is: one of these three, */
	struct ring ring;
	struct attr_list attrs; /* and the attrs of --attr */
	bool special[TYPES];
	uint8_t role[TYPES];  /* what else is to be done with a record; decode.c */
	uint64_t first, last; /* the shard's range of file offsets */
};

/*
 * As perfabi_new(), over layouts that are loaded already and must outlive it. NULL with `e` filled.
 */
struct perfabi *decoder_over(const struct abi *abi, struct error *e);

/* The tables that it decodes by; they live as long as it does. */
const struct abi *decoder_abi(const struct perfabi *perfabi);

/* Says why the call failed, in result->message. Returns `err`. */
int decoder_fail(struct decoder *d, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Before the decoder's own lines about that place: whether they are this shard's to write. */
void decoder_set_silence(struct decoder *d, struct place place);

/* Behind the decoder's own lines: what is given to threads next comes after them. 0 or the sink's
 * error. */
int decoder_pass_on(struct decoder *d);

/* Learns from the input's first bytes what it is, and writes the header. 0, or a negative errno. */
int decoder_begin(struct decoder *d, struct error *e);

/* Which records are more than written; once, before decoder_records(). */
void decoder_set_roles(struct decoder *d);

/* Records until the input ends. 0 or a negative errno. */
int decoder_records(struct decoder *d);

#endif
