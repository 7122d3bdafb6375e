/* SPDX-License-Identifier: MIT */
/*
 * gzip, xz or zstd around an input, as a stream.
 */
#ifndef PERFABI_UNPACK_H
#define PERFABI_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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

#endif
