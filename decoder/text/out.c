/* SPDX-License-Identifier: MIT */
/*
 * The buffer in front of a sink.
 */
#include "text/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int out_init(struct out *out, int (*sink)(void *, const char *, size_t), void *context)
{
	*out = (struct out){.sink = sink, .context = context, .capacity = OUT_BUFFER};
	out->base = out->at = malloc(out->capacity);
	return out->base ? 0 : -ENOMEM;
}

void out_free(struct out *out)
{
	free(out->base);
	*out = (struct out){0};
}

int out_flush(struct out *out)
{
	if (!out->err && out->sink && out->at > out->base)
		out->err = out->sink(out->context, out->base, (size_t)(out->at - out->base));
	if (out->err > 0)
		out->err = -ECANCELED;
	if (out->sink)
		out->at = out->base;
	return out->err;
}

/* The same, where there may be none left. */
char *out_more(struct out *out, size_t size)
{
	size_t used, wanted = size + PUT_SLACK;
	char *grown;

	out_flush(out);
	used = (size_t)(out->at - out->base);
	if (out->capacity - used >= wanted)
		return out->at;
	wanted += used + used / 2;
	grown = realloc(out->base, wanted);
	if (!grown) {
		out->err = -ENOMEM;
		return NULL;
	}
	out->base = grown;
	out->at = grown + used;
	out->capacity = wanted;
	return out->at;
}

int out_append(void *context, const char *text, size_t size)
{
	struct out *out = context;
	char *p = out_room(out, size);

	if (!p)
		return -ENOMEM;
	memcpy(p, text, size);
	out->at = p + size;
	*out->at = '\0';
	return 0;
}

int out_drop(void *context, const char *text, size_t size)
{
	(void)context;
	(void)text;
	(void)size;
	return 0;
}

int out_text(struct out *out, const char *text)
{
	return out_append(out, text, strlen(text));
}

int out_format(struct out *out, const char *format, ...)
{
	char text[2048];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return out_append(out, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

int out_line(struct out *out, const char **text, size_t *size)
{
	const char *newline = memchr(*text, '\n', *size);
	size_t n = newline ? (size_t)(newline - *text) : *size;
	int err = out_append(out, *text, n);

	n += newline != NULL;
	*text += n;
	*size -= n;
	return err ? err : newline != NULL;
}

char *out_spill(void *context, char *p)
{
	struct out *out = context;

	if (!out->sink || p - out->base < OUT_BUFFER)
		return p;
	out->at = p - 1;
	out_flush(out);
	out->base[0] = p[-1];
	return out->base + 1;
}

int write_fully(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

/* /dev/null the wrong way round: EBADF, as of what is closed. */
int standard_hold(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* the lowest number that is free, which is this one */
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return -errno;
	}
	return 0;
}
