/* SPDX-License-Identifier: MIT */
/*
 * Where text goes: a buffer in front of a sink. Room is reserved before a line is written, so that
 * the writer does not look at every byte.
 */
#ifndef PERFABI_OUT_H
#define PERFABI_OUT_H

#include <stdbool.h>
#include <stddef.h>
#ifdef SANITIZED
#include <sanitizer/asan_interface.h>
#endif

struct out {
	char *base, *at; /* the text so far is base..at */
	size_t capacity;
	int (*sink)(void *context, const char *text, size_t size); /* NULL: the buffer grows */
	void *context;
	int err; /* the first error, which stays; nothing is passed on after it */
};

enum { OUT_BUFFER = 256 * 1024, PUT_SLACK = 64 };

/* 0 or -ENOMEM. */
int out_init(struct out *out, int (*sink)(void *, const char *, size_t), void *context);
void out_free(struct out *out);

/*
 * A pointer with room for `size` bytes and PUT_SLACK more, or NULL when there is no memory. What is
 * written there counts once out->at is moved behind it.
 */
char *out_more(struct out *out, size_t size);

static inline char *out_room(struct out *out, size_t size)
{
	bool has_room = out->capacity - (size_t)(out->at - out->base) >= size + PUT_SLACK;
	char *p = __builtin_expect(has_room, 1) ? out->at : out_more(out, size);

#ifdef SANITIZED /* what is written behind it is found */
	ASAN_UNPOISON_MEMORY_REGION(out->base, out->capacity);
	if (p)
		ASAN_POISON_MEMORY_REGION(p + size + PUT_SLACK, out->capacity -
									(size_t)(p - out->base) -
									size - PUT_SLACK);
#endif
	return p;
}

/* Text behind what is there, and a NUL behind it that does not count. Its form is that of a sink,
 * with a struct out for the context. 0 or -ENOMEM. */
int out_append(void *out, const char *text, size_t size);

/* The same of a text up to its NUL. */
int out_text(struct out *out, const char *text);

/* The same of what printf(3) makes of it, cut at 2047 bytes. */
int out_format(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Takes from *text, of *size bytes, what belongs to the line that comes: 1 if that is whole now, in
 * out->base without its newline, which is for the caller to take away; 0 if more must come; or
 * -ENOMEM.
 */
int out_line(struct out *out, const char **text, size_t *size);

/*
 * In room that was given: hands the text up to `p` to the sink, but for its last byte, once it is
 * worth it. Returns where to go on; the room behind that is no less.
 */
char *out_spill(void *out, char *p);

/* A sink for text that nobody wants. */
int out_drop(void *context, const char *text, size_t size);

/* Hands everything to the sink. 0 or the first error there was. */
int out_flush(struct out *out);

/* All bytes to a descriptor, whatever interrupts. 0 or a negative errno. */
int write_fully(int fd, const void *bytes, size_t size);

/*
 * Takes the place of standard input, output and error that are closed, so that no file that is
 * opened later gets their number: what is printed would go into it. To read from or write to them
 * fails as if they were closed. 0 or a negative errno. For main() alone.
 */
int standard_hold(void);

#endif
