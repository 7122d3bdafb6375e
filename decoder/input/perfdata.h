/* SPDX-License-Identifier: MIT */
/*
 * The file format of perf record: its header, attrs with their ids, feature sections.
 */
#ifndef PERFABI_PERFDATA_H
#define PERFABI_PERFDATA_H

#include "input/input.h"
#include "stream/lines.h"

enum {
	PERFDATA_MAGIC = 8,
	PERFDATA_PIPE_HEADER = 16,
	PERFDATA_HEADER = 104,
	PERFDATA_DATA_OFFSET = 40, /* where data.offset stands, ... */
	PERFDATA_DATA_SIZE = 48,   /* ... and data.size */
	FEATURES = 256,
};

struct perfdata {
	unsigned version; /* 1: PERFFILE, 2: PERFILE2 */
	bool is_pipe;
	uint64_t header_size, attr_size;
	struct segment attrs, data;
	uint64_t features[FEATURES / 64]; /* bits */
	bool open_ended;                  /* data.size was 0: perf was killed */
	bool attrs_only;                  /* what is behind the attrs is not looked at */
};

/* Whether these bytes begin a perf.data, and in which byte order. */
bool perfdata_detect(const unsigned char *bytes, size_t n, enum byte_order *order);

/* Reads the file header, or that of a pipe. 0, or a negative errno with `e` filled. */
int perfdata_open(struct perfdata *file, const struct abi *abi, struct input *in,
		  enum byte_order order, struct error *e);

/*
 * Reads attrs and feature sections, adds the attrs to `events`, and writes the line `header` to
 * `out`. What is wrong there becomes diagnostics of `lines`. 0, or a negative errno: what was
 * written by then is how the line begins.
 */
int perfdata_header(const struct perfdata *file, struct input *in, struct events *events,
		    struct lines *lines, struct out *out);

/*
 * Adds the event of an attr of `size` bytes that stands at `offset`. *event is its index, or
 * negative after a diagnostic: it cannot be one. 0 or -ENOMEM.
 */
int perfdata_add_attr(struct events *events, const unsigned char *attr, size_t size,
		      uint64_t offset, struct lines *lines, int *event);

/* Takes the architecture from the bytes of the feature section "arch". 0 or -ENOMEM. */
int perfdata_take_arch(struct events *events, struct lines *lines, const unsigned char *bytes,
		       size_t size);

/*
 * The members of a feature section, whose bytes are those of `range`: "hostname":"vm", without
 * braces. 0 or -ENOMEM.
 */
int perfdata_put_feature(unsigned feature, const unsigned char *bytes, const struct segment *range,
			 struct lines *lines, struct out *out);

#endif
