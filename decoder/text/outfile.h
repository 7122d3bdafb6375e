/* SPDX-License-Identifier: MIT */
/*
 * A file that is written whole or not at all. What was there before stays until there is something
 * to put in its place.
 */
#ifndef PERFABI_OUTFILE_H
#define PERFABI_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

struct outfile {
	char *path;      /* where it goes: what a symbolic link stands for; NULL: nothing is open */
	char *temporary; /* where it is until outfile_place(); NULL: in its place, or a device */
	int fd;          /* to read and write */
};

/*
 * Opens a new file of that mode beside `path`, or the device that this is. 0 or a negative errno.
 */
int outfile_open(struct outfile *o, const char *path, mode_t mode);

/* The mode of the file at `path`, or if there is none, that of a new one of this process. */
mode_t outfile_mode(const char *path);

/* Puts the file at its path, in place of the old one. 0 or a negative errno. */
int outfile_place(struct outfile *o);

/*
 * The file as a stream, which has its descriptor from then on; end it with outfile_end(). NULL with
 * errno.
 */
FILE *outfile_stream(struct outfile *o);

/*
 * Closes the stream and, if it `is_whole`, puts the file in its place. 0 or a negative errno: what
 * could not be written is not put there.
 */
int outfile_end(struct outfile *o, FILE *f, bool is_whole);

/* Closes it; a file that was not put in its place is gone. */
void outfile_close(struct outfile *o);

/* Whether the file at `path` is that one. NULL is no file. */
bool is_file_at(const char *path, const struct stat *file);

#endif
