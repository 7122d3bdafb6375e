/* SPDX-License-Identifier: MIT */
/*
 * libzstd in streaming mode over a bounded buffer.
 */
#include "decompress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* A frame that asks for a larger window than perf's own (a few MiB at level 22) is refused. */
enum { WINDOW_LOG_MAX = 23 };

void decompress_free(struct decompress *d)
{
	ZSTD_freeDStream(d->stream);
	free(d->bytes);
	*d = (struct decompress){0};
}

static int begin(struct decompress *d)
{
	if (!d->bytes)
		d->bytes = malloc(DECOMPRESS_WINDOW);
	if (!d->stream) {
		d->stream = ZSTD_createDStream();
		if (d->stream)
			ZSTD_DCtx_setParameter(d->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	}
	return d->bytes && d->stream ? 0 : -ENOMEM;
}

int decompress_some(struct decompress *d, const unsigned char **input, size_t *size,
		    const char **why)
{
	ZSTD_inBuffer in = {*input, *size, 0};
	ZSTD_outBuffer out = {0};
	size_t result;

	*why = "no memory";
	if (begin(d))
		return -ENOMEM;
	memmove(d->bytes, d->bytes + d->start, d->end - d->start);
	d->end -= d->start;
	d->start = 0;
	out = (ZSTD_outBuffer){d->bytes, DECOMPRESS_WINDOW, d->end};
	result = ZSTD_decompressStream(d->stream, &out, &in);
	d->end = out.pos;
	*input += in.pos;
	*size -= in.pos;
	if (!ZSTD_isError(result))
		return 0;
	*why = ZSTD_getErrorName(result);
	ZSTD_DCtx_reset(d->stream, ZSTD_reset_session_only);
	return -EBADMSG;
}
