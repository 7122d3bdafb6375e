/* SPDX-License-Identifier: MIT */
/*
 * A file, a pipe or memory, read through a window of bounded size: memory does not grow with the
 * input. And what is packed: gzip, xz or zstd around an input, as a stream (unpack.c), and the
 * records in COMPRESSED and COMPRESSED2 (decompress.c).
 */
#ifndef PERFABI_INPUT_H
#define PERFABI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A range of the file; a ring buffer that wrapped is two. */
struct segment {
	uint64_t offset, size;
};

enum { INPUT_WINDOW = 128 * 1024, SEGMENTS = 2 };

struct input {
	int fd;
	const unsigned char *memory; /* instead of a file; NULL: there is one */
	bool is_file; /* is read at offsets, even one of /proc, whose size nobody knows */
	bool seekable, spooled, eof;
	struct unpack *unpack; /* what is around the input; NULL: nothing. unpack_wrong() of it */
	struct {
		const unsigned char *bytes; /* of it, those that are here ... */
		size_t size, at;
		unsigned char *own;
		off_t offset, end; /* ... and behind them, those of the descriptor */
	} packed;
	uint64_t size; /* of the file, if seekable */
	struct segment segments[SEGMENTS];
	uint64_t read;     /* bytes of the segments that were read into the window or skipped */
	uint64_t position; /* in the segments, of the window's first byte */
	unsigned char *window;
	const unsigned char *base;   /* the window, or a part of `memory` in its stead */
	size_t capacity, start, end; /* from base on */
	int err; /* of the last read that failed, a negative errno; 0: all went well */
};

/*
 * Takes a descriptor, which stays the caller's. gzip, xz and zstd around the bytes are taken off,
 * and what is in there is as from a pipe. 0 or a negative errno.
 */
int input_open(struct input *in, int fd);

/* Why an input could not be opened or read: -ENODATA, -ESTALE, or what the system says. */
const char *input_why(int err);

/*
 * The same of bytes in memory, which stay the caller's and must outlive it. They are not copied but
 * for what lies in two segments. 0 or -ENOMEM.
 */
int input_open_memory(struct input *in, const void *bytes, size_t size);
void input_close(struct input *in);

/*
 * Copies what is left of a pipe to an unnamed file in input_folder(), so that it can be read at any
 * place. 0 or a negative errno.
 */
int input_spool(struct input *in);

/* TMPDIR, or /tmp. */
const char *input_folder(void);

/* `size` bytes at `offset` of a seekable input: how many there were, or a negative errno. */
long input_read_at(struct input *in, uint64_t offset, void *bytes, size_t size);

/* What comes through the window from now on: ranges of a seekable input. */
void input_select(struct input *in, const struct segment *segments, size_t count);

/* Has at least `want` bytes in the window unless the input ends before.
 * Returns how many there are. */
size_t input_fill(struct input *in, size_t want);
const unsigned char *input_bytes(const struct input *in);
void input_advance(struct input *in, size_t n);

/* Takes up to `most` bytes, good until the next call; returns how many. 0: at the end. */
size_t input_take(struct input *in, uint64_t most, const unsigned char **bytes);

/*
 * Gives away the window, which has INPUT_WINDOW bytes, for `*buffer`, which has as many, to where
 * all but the next n bytes are copied. Returns where those are.
 */
const unsigned char *input_give(struct input *in, size_t n, unsigned char **buffer);

/* Passes over n bytes; returns how many there were. */
uint64_t input_skip(struct input *in, uint64_t n);

/* The file offset of the window's byte `at`, and in *linear how many bytes lie together there. */
uint64_t input_offset(const struct input *in, size_t at, uint64_t *linear);

/* Whether a read of a pipe would wait now. */
bool input_would_block(const struct input *in);

/* True when all of the input is in the window or behind it. */
bool input_at_end(const struct input *in);

enum { UNPACK_MAGIC = 6 }; /* bytes that tell */

struct unpack;

/* What the bytes begin: gzip, xz, zstd; NULL: none of them. */
const struct unpack_format *unpack_detect(const unsigned char *bytes, size_t n);

/*
 * Reads from `take`, which is as read(2) with `from` for a descriptor and returns a negative errno,
 * from the first byte of what unpack_detect() found on. NULL: no memory. Free with unpack_free().
 */
struct unpack *unpack_new(const struct unpack_format *format,
			  ssize_t (*take)(void *from, void *bytes, size_t size), void *from);
void unpack_free(struct unpack *unpack);

/* As read(2), but a negative errno. What is damaged or cut ends the stream. */
ssize_t unpack_read(struct unpack *unpack, void *bytes, size_t size);

/* What was wrong where the stream ended: "the gzip data is cut off"; NULL: nothing. */
const char *unpack_wrong(const struct unpack *unpack);

/* One zstd stream over all of these records, whose pieces end anywhere. */
struct decompress {
	void *stream; /* ZSTD_DStream */
	unsigned char *bytes;
	size_t start, end;
	uint64_t position; /* in the stream, of bytes[start] */
	uint64_t follow;   /* bytes from there on that belong to a record and are none */
	bool holds_more;   /* there was no room for all that the input so far has */
	size_t wanted;     /* bytes that zstd asks for next, or 0: a frame begins */
	bool in_last;      /* no block's header follows what it asks for */
	bool is_cut;       /* of a block or header there must be more, ... */
	size_t waiting;    /* ... and so many bytes of it have not come out */
	uint64_t taken, given;
};

/*
 * A stream may grow by so much and no more: six bytes of zstd can stand for megabytes that are all
 * the same, and no kernel writes such records.
 */
enum { DECOMPRESS_WINDOW = 512 * 1024, GROWTH_FREE = 4 * 1024 * 1024, GROWTH_MAX = 512 };

void decompress_free(struct decompress *d);

/*
 * Takes a block at most of *input behind bytes[end], moving *input on: what comes before a block
 * that is damaged is whole. 0; -EBADMSG with *why set: the piece is no zstd, and what is left of it
 * is to be dropped; or -ENOMEM.
 */
int decompress_some(struct decompress *d, const unsigned char **input, size_t *size,
		    const char **why);

#endif
