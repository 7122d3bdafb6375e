/* SPDX-License-Identifier: MIT */
#include "input/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

/* A frame that asks for a larger window than perf's own (a few MiB at level 22) is refused. */
enum { WINDOW_LOG_MAX = 23, FRAME_BEGIN = 5, BLOCK_HEADER = 3, ZSTD_FRAME = 0x28 };

void decompress_free(struct decompress *d)
{
	ZSTD_freeDStream(d->stream);
	free(d->bytes);
	*d = (struct decompress){0};
}

static int give_up(struct decompress *d)
{
	ZSTD_DCtx_reset(d->stream, ZSTD_reset_session_only);
	d->wanted = 0;
	d->in_last = d->is_cut = false;
	d->waiting = 0;
	d->holds_more = false;
	return -EBADMSG;
}

/* What zstd wants next is a block's header: of the last block there may be as much missing. */
static bool at_block(const struct decompress *d)
{
	return d->wanted == BLOCK_HEADER && !d->in_last;
}

int decompress_some(struct decompress *d, const unsigned char **input, size_t *size,
		    const char **why)
{
	/*
	 * zstd asks for a block and the header of the next, but for the last one alone. What it has
	 * decompressed in a call that fails is lost, so that the two are given one after the other.
	 */
	size_t piece = !d->wanted                                ? FRAME_BEGIN
		       : !d->in_last && d->wanted > BLOCK_HEADER ? d->wanted - BLOCK_HEADER
								 : d->wanted;
	ZSTD_inBuffer in = {*input, *size < piece ? *size : piece, 0};
	ZSTD_outBuffer out = {0};
	bool at_begin = !d->wanted || at_block(d), came_out;
	size_t result;

	if (!d->bytes)
		d->bytes = malloc(DECOMPRESS_WINDOW);
	if (!d->stream) {
		d->stream = ZSTD_createDStream();
		if (d->stream)
			ZSTD_DCtx_setParameter(d->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	}
	if (!d->bytes || !d->stream)
		return -ENOMEM;
	memmove(d->bytes, d->bytes + d->start, d->end - d->start);
	d->end -= d->start;
	d->start = 0;
	out = (ZSTD_outBuffer){d->bytes, DECOMPRESS_WINDOW, d->end};
	result = ZSTD_decompressStream(d->stream, &out, &in);
	d->taken += in.pos;
	d->given += out.pos - d->end;
	came_out = !at_begin && out.pos > d->end;
	if (at_begin &&
	    in.pos) /* the first byte of a frame or block tells whether one follows it */
		d->in_last = d->wanted ? **input & 1 : **input != ZSTD_FRAME;
	d->holds_more = out.pos == out.size;
	d->end = out.pos;
	*input += in.pos;
	*size -= in.pos;
	if (ZSTD_isError(result)) {
		*why = ZSTD_getErrorName(result);
		return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? -ENOMEM
										 : give_up(d);
	}
	d->wanted = result;
	d->is_cut = result && !at_block(d);
	d->waiting = d->is_cut && !came_out ? d->waiting + in.pos : 0;
	if (d->given <= GROWTH_FREE + d->taken * GROWTH_MAX)
		return 0;
	*why = "it grows more than 512-fold";
	return give_up(d);
}
