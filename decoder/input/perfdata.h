/* SPDX-License-Identifier: MIT */
/*
 * The file format of perf record: the header, and where it says that the sections are. And an image
 * of the mmap area (ring.c): which ranges of it hold records, oldest first.
 */
#ifndef PERFABI_PERFDATA_H
#define PERFABI_PERFDATA_H

#include <sys/stat.h>

#include "abi/abi.h"
#include "abi/word.h"
#include "input/input.h"
#include "plan/plan.h"

enum {
	PERFDATA_MAGIC = 8,
	PERFDATA_PIPE_HEADER = 16,
	PERFDATA_HEADER = 104,
	PERFDATA_ATTR_SIZE = 16,   /* where the size of an attr's entry stands, ... */
	PERFDATA_ATTRS = 24,       /* ... where attrs.offset, ... */
	PERFDATA_DATA_OFFSET = 40, /* ... data.offset, ... */
	PERFDATA_DATA_SIZE = 48,   /* ... and data.size */
	FEATURES = 256,
};

struct perfdata {
	unsigned version; /* 1: PERFFILE, 2: PERFILE2 */
	bool is_pipe;
	uint64_t header_size, attr_size;
	struct segment attrs, data;
	bool open_ended;                  /* data.size was 0: perf was killed */
	uint64_t features[FEATURES / 64]; /* bits; if it was killed, none */
};

/* Whether these bytes begin a perf.data, and in which byte order. */
bool perfdata_detect(const unsigned char *bytes, size_t n, enum byte_order *order);

/* Reads the file header, or that of a pipe. 0, or a negative errno with `e` filled. */
int perfdata_open(struct perfdata *file, const struct abi *abi, struct input *in,
		  enum byte_order order, struct error *e);

/* The entry of a table of sections, 16 bytes: offset and size. */
struct segment perfdata_segment(const unsigned char *bytes, enum byte_order order);

/* Whether it has a section of the feature of that name in cases/abi. */
bool perfdata_has_feature(const struct perfdata *file, const struct abi *abi, const char *name);

/* A recording that is a directory: its file `data`, and data.0, data.1, ... with more records. */
struct parts {
	int dir;           /* -1: it is none */
	unsigned *numbers; /* ascending */
	size_t count, capacity;
};

enum { PARTS_MAX = 8192 }; /* as many cpus has a kernel at most */

/* Its parts; `dir` stays the caller's. 0, -E2BIG or a negative errno; free the numbers always. */
int parts_find(struct parts *parts, int dir);

/*
 * Opens data.N, or `data` without a number, for reading that does not wait, nor go on forever.
 * A descriptor, and in *st what it is, or a negative errno.
 */
int parts_open(const struct parts *parts, const unsigned *number, struct stat *st);

enum { RING_PAGE_MIN = 4096 };

struct ring {
	struct segment segments[SEGMENTS];
	bool lost_begin; /* the oldest record was partly overwritten */
	bool lost_end;   /* of a backward buffer: the same at its end */
	uint64_t unread; /* bytes of the image that are not of data pages */
	uint64_t page;   /* bytes of the metadata page, as long as its layout, ... */
	unsigned char bytes[RING_PAGE_MIN]; /* ... and those */
	struct plan plan; /* of the metadata page; free with plan_free() in any case */
};

/* Whether the first bytes of an input of that size look like a metadata page: 1, 0 or -ENOMEM. */
int ring_detect(const struct abi *abi, const unsigned char *bytes, size_t n, uint64_t size,
		enum byte_order *order);

/*
 * Where the data pages of an area of `size` bytes are, by its metadata page, of which there are
 * RING_PAGE_MIN bytes. 0, or -EINVAL with `e` filled, which says in front of the size where it is.
 */
int ring_find_data(const struct plan *plan, const unsigned char *page, enum byte_order order,
		   uint64_t size, const char *where, struct segment *data, struct error *e);

/*
 * Reads the metadata page into `ring`, all zero. `backward`: attr.write_backward is set. 0, or a
 * negative errno with `e` filled.
 */
int ring_open(struct ring *ring, const struct abi *abi, struct input *in, enum byte_order order,
	      bool backward, struct error *e);

#endif
