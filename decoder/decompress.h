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
};

enum { DECOMPRESS_WINDOW = 512 * 1024 };

void decompress_free(struct decompress *d);

/*
 * Takes what it can of *input behind bytes[end], moving *input on. 0, or a negative errno with *why
 * set: the piece is no zstd, and what is left of it is to be dropped.
 */
int decompress_some(struct decompress *d, const unsigned char **input, size_t *size,
		    const char **why);

#endif
