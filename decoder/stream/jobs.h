/* SPDX-License-Identifier: MIT */
/*
 * Records to lines in several threads, and the lines out in the order of the records.
 */
#ifndef PERFABI_JOBS_H
#define PERFABI_JOBS_H

#include "input/input.h"
#include "stream/lines.h"

struct jobs;

/*
 * `threads` of them, at least 2, the caller's own among them; fewer if the system gives no more.
 * NULL when there is no memory.
 */
struct jobs *jobs_start(unsigned threads, const struct events *events,
			const struct lines_options *options,
			int (*sink)(void *, const char *, size_t), void *context);

/* Whole records, to be written behind all that was given before. 0 or the sink's first error. */
int jobs_records(struct jobs *jobs, const unsigned char *bytes, size_t size, struct place place);

/*
 * The same for the first `size` bytes of the input's window, which are given away if that is worth
 * it. They are behind the window then in any case.
 */
int jobs_window(struct jobs *jobs, struct input *in, size_t size, struct place place);

/* Text, likewise; its form is that of a sink. */
int jobs_text(void *jobs, const char *text, size_t size);

/* Waits until all is written. Nothing reads the events from then on until more is given. */
int jobs_drain(struct jobs *jobs);

/* Drains, ends the threads, adds their sums. Returns the sink's first error. */
int jobs_end(struct jobs *jobs, struct lines_sums *sums);

#endif
