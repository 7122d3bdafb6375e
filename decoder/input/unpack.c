/* SPDX-License-Identifier: MIT */
/*
 * zlib, liblzma and libzstd behind one step: bytes in, bytes out. Members, streams and frames may
 * follow one another, as `cat` leaves them.
 */
#include "input/input.h"

#include <errno.h>
#include <lzma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { PACKED = 64 * 1024, XZ_MEMORY = 256 * 1024 * 1024, ZSTD_LOG_MAX = 27 };

static const char too_large[] = "takes too much memory: decompress it by itself first";

struct unpack {
	const struct unpack_format *format;
	ssize_t (*take)(void *, void *, size_t);
	void *from;
	z_stream gzip;
	lzma_stream xz;
	ZSTD_DStream *zstd;
	ZSTD_inBuffer in;
	ZSTD_outBuffer out;
	bool is_last;        /* no more comes in */
	bool is_between;     /* all that came in is whole: it may end here */
	const char *library; /* its word, where it does not go on */
	bool no_memory;
	char wrong[128];
	unsigned char packed[PACKED];
};

struct unpack_format {
	const char *name;
	unsigned char magic[UNPACK_MAGIC];
	size_t length;
	bool (*begin)(struct unpack *);
	void (*step)(struct unpack *);
};

static bool gzip_begin(struct unpack *u)
{
	return inflateInit2(&u->gzip, 15 + 16) == Z_OK;
}

static void gzip_step(struct unpack *u)
{
	size_t room = u->out.size - u->out.pos;
	z_stream *z = &u->gzip;
	int got;

	while (u->is_between && u->in.pos < u->in.size && !((const char *)u->in.src)[u->in.pos])
		u->in.pos++; /* a tape's padding, as gzip(1) ignores it */
	if (u->is_between && u->in.pos == u->in.size)
		return;
	z->next_in = (unsigned char *)u->in.src + u->in.pos;
	z->avail_in = (uInt)(u->in.size - u->in.pos);
	z->next_out = (unsigned char *)u->out.dst + u->out.pos;
	z->avail_out = (uInt)(room < UINT32_MAX ? room : UINT32_MAX);
	got = inflate(z, Z_NO_FLUSH);
	u->in.pos = u->in.size - z->avail_in;
	u->out.pos = (size_t)(z->next_out - (unsigned char *)u->out.dst);
	u->is_between = got == Z_STREAM_END;
	if (got == Z_STREAM_END)
		inflateReset(z);
	else if (got != Z_OK && got != Z_BUF_ERROR)
		u->library = z->msg ? z->msg : zError(got);
	u->no_memory = got == Z_MEM_ERROR;
}

static bool xz_begin(struct unpack *u)
{
	return lzma_stream_decoder(&u->xz, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
}

static void xz_step(struct unpack *u)
{
	lzma_stream *x = &u->xz;
	lzma_ret got;

	x->next_in = (const unsigned char *)u->in.src + u->in.pos;
	x->avail_in = u->in.size - u->in.pos;
	x->next_out = (unsigned char *)u->out.dst + u->out.pos;
	x->avail_out = u->out.size - u->out.pos;
	got = lzma_code(x, u->is_last ? LZMA_FINISH : LZMA_RUN);
	u->in.pos = u->in.size - x->avail_in;
	u->out.pos = u->out.size - x->avail_out;
	u->is_between = got == LZMA_STREAM_END;
	u->no_memory = got == LZMA_MEM_ERROR;
	if (got == LZMA_MEMLIMIT_ERROR)
		u->library = too_large;
	else if (got != LZMA_OK && got != LZMA_BUF_ERROR && got != LZMA_STREAM_END)
		u->library = "it does not fit the format";
}

static bool zstd_begin(struct unpack *u)
{
	u->zstd = ZSTD_createDStream();
	return u->zstd &&
	       !ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, ZSTD_LOG_MAX));
}

static void zstd_step(struct unpack *u)
{
	size_t got = ZSTD_decompressStream(u->zstd, &u->out, &u->in);

	u->is_between = !got;
	u->no_memory = ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation;
	if (ZSTD_getErrorCode(got) == ZSTD_error_frameParameter_windowTooLarge)
		u->library = too_large;
	else if (ZSTD_isError(got))
		u->library = ZSTD_getErrorName(got);
}

static const struct unpack_format formats[] = {
	{"gzip", {0x1f, 0x8b, 8}, 3, gzip_begin, gzip_step},
	{"xz", {0xfd, '7', 'z', 'X', 'Z', 0}, 6, xz_begin, xz_step},
	{"zstd", {0x28, 0xb5, 0x2f, 0xfd}, 4, zstd_begin, zstd_step},
};

const struct unpack_format *unpack_detect(const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (n >= formats[i].length && !memcmp(bytes, formats[i].magic, formats[i].length))
			return &formats[i];
	return NULL;
}

struct unpack *unpack_new(const struct unpack_format *format,
			  ssize_t (*take)(void *from, void *bytes, size_t size), void *from)
{
	struct unpack *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->format = format;
	u->take = take;
	u->from = from;
	u->xz = (lzma_stream)LZMA_STREAM_INIT;
	u->is_between = true;
	if (u->format->begin(u))
		return u;
	unpack_free(u);
	return NULL;
}

void unpack_free(struct unpack *u)
{
	if (!u)
		return;
	inflateEnd(&u->gzip);
	lzma_end(&u->xz);
	ZSTD_freeDStream(u->zstd);
	free(u);
}

ssize_t unpack_read(struct unpack *u, void *bytes, size_t size)
{
	u->out = (ZSTD_outBuffer){bytes, size, 0};
	while (!u->out.pos && !u->wrong[0]) {
		if (u->in.pos == u->in.size && !u->is_last) {
			ssize_t n = u->take(u->from, u->packed, sizeof(u->packed));

			if (n < 0)
				return n;
			u->in = (ZSTD_inBuffer){u->packed, (size_t)n, 0};
			u->is_last = !n;
		}
		if (u->in.pos == u->in.size && u->is_between && u->is_last)
			break;
		u->format->step(u);
		if (u->no_memory)
			return -ENOMEM;
		if (u->library)
			snprintf(u->wrong, sizeof(u->wrong), "the %s data %s%s", u->format->name,
				 u->library == too_large ? "" : "is damaged: ", u->library);
		else if (u->is_last && u->in.pos == u->in.size && !u->out.pos && !u->is_between)
			snprintf(u->wrong, sizeof(u->wrong), "the %s data is cut off",
				 u->format->name);
	}
	return (ssize_t)u->out.pos;
}

const char *unpack_wrong(const struct unpack *u)
{
	return u && u->wrong[0] ? u->wrong : NULL;
}
