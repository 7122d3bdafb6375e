/* SPDX-License-Identifier: MIT */
/*
 * A ring of slots. The caller fills them in order and writes out the oldest when it is done;
 * threads take the next that is filled. One lock guards the states; what is in a slot belongs to
 * whoever the state says.
 */
#include "stream/lines.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A slot's bytes are as many as an input's window, so that the two can be exchanged. */
enum { SLOT_BYTES = INPUT_WINDOW, SLOTS_PER_THREAD = 2, PIECES = 64 };

enum slot_state { NEW, FILLED, TAKEN, DONE };

struct slot {
	enum slot_state state;
	unsigned char *bytes;
	const unsigned char *begin; /* of the records in it */
	size_t size;
	struct {
		size_t size;
		struct place place;
	} pieces[PIECES];
	size_t piece_count;
	struct out out;
	struct lines lines;
};

struct jobs {
	pthread_mutex_t lock;
	pthread_cond_t filled, done;
	bool ending;
	struct slot *slots;
	size_t slot_count;
	size_t next;    /* the slot that the caller fills */
	size_t taken;   /* the slot that a thread takes next */
	size_t oldest;  /* the slot to be written out next */
	size_t waiting; /* slots that were handed out, and are not written yet */
	pthread_t *threads;
	unsigned thread_count;
	int (*sink)(void *, const char *, size_t);
	void *context;
	int err;
};

/* Decodes the next filled slot, with the lock held before and after; false if there is none. */
static bool take_one(struct jobs *jobs)
{
	struct slot *slot = &jobs->slots[jobs->taken];

	if (slot->state != FILLED)
		return false;
	slot->state = TAKEN;
	jobs->taken = (jobs->taken + 1) % jobs->slot_count;
	pthread_mutex_unlock(&jobs->lock);
	for (size_t i = 0, at = 0; i < slot->piece_count; at += slot->pieces[i++].size)
		lines_put(&slot->lines, slot->begin + at, slot->pieces[i].size,
			  slot->pieces[i].place);
	pthread_mutex_lock(&jobs->lock);
	slot->state = DONE;
	pthread_cond_signal(&jobs->done);
	return true;
}

static void *work(void *argument)
{
	struct jobs *jobs = argument;

	pthread_mutex_lock(&jobs->lock);
	while (take_one(jobs) || !jobs->ending)
		if (jobs->slots[jobs->taken].state != FILLED && !jobs->ending)
			pthread_cond_wait(&jobs->filled, &jobs->lock);
	pthread_mutex_unlock(&jobs->lock);
	return NULL;
}

/* Writes the oldest slot out once it is done; until then the caller's thread works too. */
static void write_oldest(struct jobs *jobs)
{
	struct slot *slot = &jobs->slots[jobs->oldest];

	pthread_mutex_lock(&jobs->lock);
	while (slot->state != DONE)
		if (!take_one(jobs))
			pthread_cond_wait(&jobs->done, &jobs->lock);
	pthread_mutex_unlock(&jobs->lock);
	if (!jobs->err)
		jobs->err = slot->out.err;
	if (!jobs->err && slot->out.at > slot->out.base)
		jobs->err = jobs->sink(jobs->context, slot->out.base,
				       (size_t)(slot->out.at - slot->out.base));
	slot->out.at = slot->out.base;
	slot->size = slot->piece_count = 0;
	jobs->oldest = (jobs->oldest + 1) % jobs->slot_count;
	jobs->waiting--;
}

/* Hands the slot being filled to whoever comes, and makes room in the next. */
static void submit(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->slots[jobs->next].state = FILLED;
	pthread_cond_signal(&jobs->filled);
	pthread_mutex_unlock(&jobs->lock);
	jobs->next = (jobs->next + 1) % jobs->slot_count;
	if (++jobs->waiting == jobs->slot_count)
		write_oldest(jobs);
}

/* The slot that the caller fills, once it has room for so many bytes more. */
static struct slot *slot_for(struct jobs *jobs, size_t size)
{
	struct slot *slot = &jobs->slots[jobs->next];

	if (slot->piece_count && (slot->size + size > SLOT_BYTES || slot->piece_count == PIECES)) {
		submit(jobs);
		slot = &jobs->slots[jobs->next];
	}
	return slot;
}

static void add_piece(struct slot *slot, size_t size, struct place place)
{
	slot->size += size;
	slot->pieces[slot->piece_count].size = size;
	slot->pieces[slot->piece_count++].place = place;
}

int jobs_records(struct jobs *jobs, const unsigned char *bytes, size_t size, struct place place)
{
	struct slot *slot = slot_for(jobs, size);

	slot->begin = slot->bytes;
	memcpy(slot->bytes + slot->size, bytes, size);
	add_piece(slot, size, place);
	return jobs->err;
}

int jobs_window(struct jobs *jobs, struct input *in, size_t size, struct place place)
{
	struct slot *slot;

	if (size < SLOT_BYTES / 2 || in->memory || in->capacity < INPUT_WINDOW)
		return jobs_records(jobs, input_bytes(in), size, place);
	slot = slot_for(jobs, SLOT_BYTES);
	slot->begin = input_give(in, size, &slot->bytes);
	add_piece(slot, size, place);
	submit(jobs);
	return jobs->err;
}

int jobs_text(void *argument, const char *text, size_t size)
{
	struct jobs *jobs = argument;
	struct slot *slot = slot_for(jobs, SLOT_BYTES);

	out_append(&slot->out, text, size); /* an error stays in it */
	submit(jobs);                       /* no pieces: a thread only passes it on */
	return jobs->err;
}

int jobs_drain(struct jobs *jobs)
{
	if (jobs->slots[jobs->next].piece_count)
		submit(jobs);
	while (jobs->waiting)
		write_oldest(jobs);
	return jobs->err;
}

static void free_jobs(struct jobs *jobs)
{
	for (size_t i = 0; jobs->slots && i < jobs->slot_count; i++) {
		lines_free(&jobs->slots[i].lines);
		out_free(&jobs->slots[i].out);
		free(jobs->slots[i].bytes);
	}
	free(jobs->slots);
	free(jobs->threads);
	pthread_cond_destroy(&jobs->filled);
	pthread_cond_destroy(&jobs->done);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}

int jobs_end(struct jobs *jobs, struct lines_sums *sums)
{
	int err = jobs_drain(jobs);

	pthread_mutex_lock(&jobs->lock);
	jobs->ending = true;
	pthread_cond_broadcast(&jobs->filled);
	pthread_mutex_unlock(&jobs->lock);
	for (unsigned i = 0; i < jobs->thread_count; i++)
		pthread_join(jobs->threads[i], NULL);
	for (size_t i = 0; i < jobs->slot_count; i++)
		lines_add_sums(sums, &jobs->slots[i].lines.sums);
	free_jobs(jobs);
	return err;
}

struct jobs *jobs_start(unsigned threads, const struct events *events,
			const struct lines_options *options,
			int (*sink)(void *, const char *, size_t), void *context)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	bool has_memory;

	if (!jobs)
		return NULL;
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->filled, NULL);
	pthread_cond_init(&jobs->done, NULL);
	jobs->sink = sink;
	jobs->context = context;
	jobs->slot_count = (size_t)threads * SLOTS_PER_THREAD + 1;
	jobs->slots = calloc(jobs->slot_count, sizeof(*jobs->slots));
	jobs->threads = calloc(threads, sizeof(*jobs->threads));
	has_memory = jobs->slots && jobs->threads;
	for (size_t i = 0; has_memory && i < jobs->slot_count; i++) {
		struct slot *slot = &jobs->slots[i];

		slot->bytes = malloc(SLOT_BYTES);
		has_memory = slot->bytes && !out_init(&slot->out, NULL, NULL);
		lines_init(&slot->lines, events, options, &slot->out);
	}
	if (!has_memory) {
		free_jobs(jobs);
		return NULL;
	}
	/* the caller's is one of them, and does alone what it gets no other for */
	while (jobs->thread_count + 1 < threads &&
	       !pthread_create(&jobs->threads[jobs->thread_count], NULL, work, jobs))
		jobs->thread_count++;
	return jobs;
}
