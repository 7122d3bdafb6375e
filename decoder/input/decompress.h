/* SPDX-License-Identifier: MIT */
/*
 * The stream of records in COMPRESSED and COMPRESSED2: one zstd stream over all of them, whose
 * pieces end anywhere.
 */
#ifndef PERFABI_DECOMPRESS_H
#define PERFABI_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
