/* SPDX-License-Identifier: MIT */
/*
 * Windowed reading. The window is read and not mapped: pages of a mapping would count as ours.
 */
#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/out.h"

static int open_window(struct input *in, uint64_t size)
{
	in->size = size;
	in->capacity = in->seekable && size < INPUT_WINDOW ? (size_t)size + 1 : INPUT_WINDOW;
	in->base = in->window = malloc(in->capacity);
	if (!in->window)
		return -ENOMEM;
	in->segments[0] = (struct segment){0, in->seekable ? size : UINT64_MAX};
	return 0;
}

/* As read(2), or pread(2) of a file, but a negative errno; a signal ends neither. */
static ssize_t read_fd(int fd, bool is_file, void *bytes, size_t size, off_t offset)
{
	ssize_t n;

	do
		n = is_file ? pread(fd, bytes, size, offset) : read(fd, bytes, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* As read_fd(), of what is packed. */
static ssize_t take_packed(void *from, void *bytes, size_t size)
{
	struct input *in = from;
	size_t here = in->packed.size - in->packed.at;
	ssize_t n;

	if (here) {
		size = here < size ? here : size;
		memcpy(bytes, in->packed.bytes + in->packed.at, size);
		in->packed.at += size;
		return (ssize_t)size;
	}
	if (in->fd < 0)
		return 0;
	n = read_fd(in->fd, in->is_file, bytes, size, in->packed.offset);
	in->packed.offset += n > 0 ? n : 0;
	return n || in->packed.offset >= in->packed.end ? n : -ENODATA;
}

/* Takes off what is around the input, which begins with these bytes: it is as a pipe then. */
static int look_for_packed(struct input *in, const unsigned char *bytes, size_t size)
{
	const struct unpack_format *format = unpack_detect(bytes, size);

	if (!format)
		return 0;
	in->unpack = unpack_new(format, take_packed, in);
	in->seekable = false;
	return in->unpack ? 0 : -ENOMEM;
}

int input_open(struct input *in, int fd)
{
	unsigned char magic[UNPACK_MAGIC];
	struct stat st;
	ssize_t n;
	int err;

	*in = (struct input){.fd = fd};
	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	/* A file of /proc has a size of 0 and is read as a pipe is. */
	in->is_file = S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) >= 0;
	in->seekable = in->is_file && st.st_size > 0;
	in->packed.end = in->seekable ? st.st_size : 0;
	n = in->seekable ? read_fd(fd, true, magic, sizeof(magic), 0) : 0;
	err = n > 0 ? look_for_packed(in, magic, (size_t)n) : (int)n;
	return err ? err : open_window(in, in->seekable ? (uint64_t)st.st_size : 0);
}

const char *input_why(int err)
{
	return err == -ENODATA  ? "it got shorter while it was read"
	       : err == -ESTALE ? "another file has taken its place"
	       : err == -EINVAL ? "it is no regular file"
				: strerror(-err);
}

int input_open_memory(struct input *in, const void *bytes, size_t size)
{
	int err;

	*in = (struct input){.fd = -1, .memory = bytes, .seekable = true};
	in->packed.bytes = bytes;
	in->packed.size = size;
	err = look_for_packed(in, bytes, size);
	if (in->unpack)
		in->memory = NULL;
	return err ? err : open_window(in, size);
}

void input_close(struct input *in)
{
	free(in->window);
	unpack_free(in->unpack);
	free(in->packed.own);
	if (in->spooled)
		close(in->fd);
	*in = (struct input){.fd = -1, .err = in->err};
}

const char *input_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && folder[0] ? folder : "/tmp";
}

int input_spool(struct input *in)
{
	char path[4096];
	int err = 0, fd, n = snprintf(path, sizeof(path), "%s/perfabi-XXXXXX", input_folder());
	uint64_t size = 0;
	const unsigned char *bytes;
	size_t some;

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	while (!err && (some = input_take(in, UINT64_MAX, &bytes))) {
		err = write_fully(fd, bytes, some);
		size += some;
	}
	err = err ? err : in->err;
	if (err) {
		close(fd);
		return err;
	}
	in->spooled = true;
	in->fd = fd;
	in->seekable = true;
	in->size = size;
	input_select(in, &(struct segment){0, size}, 1);
	return 0;
}

/* As read_fd() of a file, of memory too. */
static ssize_t read_place(const struct input *in, void *bytes, size_t size, uint64_t offset)
{
	if (!in->memory)
		return read_fd(in->fd, true, bytes, size, (off_t)offset);
	if (offset >= in->size)
		return 0;
	if (size > in->size - offset)
		size = (size_t)(in->size - offset);
	memcpy(bytes, in->memory + offset, size);
	return (ssize_t)size;
}

long input_read_at(struct input *in, uint64_t offset, void *bytes, size_t size)
{
	size_t got = 0;

	if (offset >= in->size)
		return 0;
	if (size > in->size - offset)
		size = (size_t)(in->size - offset);
	while (got < size) {
		ssize_t n = read_place(in, (char *)bytes + got, size - got, offset + got);

		if (n <= 0)
			return in->err = n ? (int)n : -ENODATA;
		got += (size_t)n;
	}
	return (long)got;
}

void input_select(struct input *in, const struct segment *segments, size_t count)
{
	for (size_t i = 0; i < SEGMENTS; i++)
		in->segments[i] = i < count ? segments[i] : (struct segment){0};
	in->base = in->window;
	in->read = in->position = 0;
	in->start = in->end = 0;
	in->eof = false;
}

/* Where the next byte to be read lies, and how many lie together there. */
static uint64_t segment_at(const struct input *in, uint64_t position, uint64_t *together)
{
	for (size_t i = 0; i < SEGMENTS; i++) {
		if (position < in->segments[i].size) {
			*together = in->segments[i].size - position;
			return in->segments[i].offset + position;
		}
		position -= in->segments[i].size;
	}
	*together = 0;
	return 0;
}

/* Bytes of memory that lie together need no window. False if these do not. */
static bool fill_from_memory(struct input *in, size_t want)
{
	uint64_t together, offset = segment_at(in, in->position, &together), behind;

	segment_at(in, in->position + together, &behind);
	if (!in->memory || (together < want && behind) || offset > in->size ||
	    together > in->size - offset)
		return false;
	in->base = in->memory + offset;
	in->start = 0;
	in->end = together < INPUT_WINDOW ? (size_t)together : INPUT_WINDOW;
	in->read = in->position + in->end;
	in->eof = in->end < want && in->end == together;
	return true;
}

/* The first bytes of a pipe, which are in the window, may be packed. */
static int unpack_pipe(struct input *in)
{
	in->err = look_for_packed(in, in->window, in->end);
	if (in->err || !in->unpack)
		return in->err;
	in->packed.own = malloc(in->end);
	if (!in->packed.own)
		return in->err = -ENOMEM;
	in->packed.bytes = memcpy(in->packed.own, in->window, in->end);
	in->packed.size = in->end;
	in->packed.offset = (off_t)in->end;
	in->end = 0;
	in->read = 0;
	return 0;
}

size_t input_fill(struct input *in, size_t want)
{
	if (in->end - in->start >= want || in->eof || fill_from_memory(in, want))
		return in->end - in->start;
	if (in->base != in->window) { /* what lies in memory is copied to where the rest comes to */
		in->base = in->window;
		in->start = in->end = 0;
		in->read = in->position;
	}
	memmove(in->window, in->window + in->start, in->end - in->start);
	in->end -= in->start;
	in->start = 0;
	while (in->end < want && in->end < in->capacity) {
		uint64_t together, offset = segment_at(in, in->read, &together);
		size_t room = in->capacity - in->end;
		ssize_t n = 0;

		if (room > together)
			room = (size_t)together;
		if (room && in->seekable)
			n = read_place(in, in->window + in->end, room, offset);
		else if (room && in->unpack)
			n = unpack_read(in->unpack, in->window + in->end, room);
		else if (room)
			n = read_fd(in->fd, in->is_file, in->window + in->end, room,
				    (off_t)in->read);
		if (n <= 0) {
			in->eof = true;
			in->err = n                      ? (int)n
				  : room && in->seekable ? -ENODATA /* it got shorter */
							 : in->err;
			break;
		}
		in->end += (size_t)n;
		in->read += (uint64_t)n;
		if (!in->seekable && !in->unpack && in->read == in->end && unpack_pipe(in))
			return 0;
	}
	return in->end - in->start;
}

const unsigned char *input_bytes(const struct input *in)
{
	return in->base + in->start;
}

void input_advance(struct input *in, size_t n)
{
	in->start += n;
	in->position += n;
}

size_t input_take(struct input *in, uint64_t most, const unsigned char **bytes)
{
	size_t n = most ? input_fill(in, 1) : 0;

	n = n < most ? n : (size_t)most;
	*bytes = input_bytes(in);
	input_advance(in, n);
	return n;
}

const unsigned char *input_give(struct input *in, size_t n, unsigned char **buffer)
{
	unsigned char *given = in->window;
	size_t behind = in->start + n;

	memcpy(*buffer + behind, given + behind, in->end - behind);
	in->base = in->window = *buffer;
	*buffer = given;
	return given + in->start;
}

uint64_t input_skip(struct input *in, uint64_t n)
{
	uint64_t skipped = 0, left = 0, behind;
	const unsigned char *bytes;
	unsigned char last;
	size_t some;

	while ((!in->seekable || in->end > in->start) &&
	       (some = input_take(in, n - skipped, &bytes)))
		skipped += some;
	if (!in->seekable || skipped == n)
		return skipped;
	for (size_t i = 0; i < SEGMENTS; i++)
		left += in->segments[i].size;
	left -= in->read;
	if (left > n - skipped)
		left = n - skipped;
	in->read += left;
	in->position += left;
	if (left) /* has the file so many? */
		input_read_at(in, segment_at(in, in->read - 1, &behind), &last, 1);
	return skipped + left;
}

uint64_t input_offset(const struct input *in, size_t at, uint64_t *linear)
{
	return segment_at(in, in->position + at, linear);
}

bool input_would_block(const struct input *in)
{
	struct pollfd fd = {in->fd, POLLIN, 0};

	return in->fd >= 0 && poll(&fd, 1, 0) == 0;
}

bool input_at_end(const struct input *in)
{
	uint64_t together;

	segment_at(in, in->read, &together);
	return in->eof || !together;
}
