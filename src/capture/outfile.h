/* SPDX-License-Identifier: MIT */
/*
 * The file that a recording goes to. What was there before stays until there is something to put
 * in its place, and is kept as FILE.old then, as perf record does.
 */
#ifndef PERFABI_OUTFILE_H
#define PERFABI_OUTFILE_H

struct outfile {
	const char *path; /* the caller's */
	char *temporary; /* where the file is until outfile_place(); NULL: in its place, or a device
			  */
	int fd;          /* to read and write */
};

/* Opens a new file beside `path`, or the device that this is. 0 or a negative errno. */
int outfile_open(struct outfile *o, const char *path);

/* Puts the file at its path; one with something in it becomes PATH.old. 0 or a negative errno. */
int outfile_place(struct outfile *o);

/* Closes it; a file that was not put in its place is gone. */
void outfile_close(struct outfile *o);

#endif
