/* SPDX-License-Identifier: MIT */
/*
 * A new file under another name in the same folder, which takes its place by rename(2).
 */
#include "text/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_file_at(const char *path, const struct stat *file)
{
	struct stat st;

	return path && !stat(path, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

mode_t outfile_mode(const char *path)
{
	struct stat st;
	mode_t mask = umask(0);

	umask(mask);
	return stat(path, &st) ? 0666 & ~mask : st.st_mode & 07777;
}

/* Without it `o` has no temporary file to take away. */
static int open_temporary(struct outfile *o, mode_t mode)
{
	int err;

	if (asprintf(&o->temporary, "%s.XXXXXX", o->path) < 0) {
		o->temporary = NULL;
		return -ENOMEM;
	}
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd >= 0)
		return fchmod(o->fd, mode) ? -errno : 0;
	err = -errno;
	free(o->temporary);
	o->temporary = NULL;
	return err;
}

int outfile_open(struct outfile *o, const char *path, mode_t mode)
{
	struct stat st;
	int err;

	*o = (struct outfile){.path = realpath(path, NULL), .fd = -1};
	if (!o->path) /* it is not there yet */
		o->path = strdup(path);
	if (!o->path)
		return -ENOMEM;
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		o->fd = open(path, (S_ISFIFO(st.st_mode) ? O_WRONLY : O_RDWR) | O_CLOEXEC);
		err = o->fd < 0 ? -errno : 0;
	} else {
		err = open_temporary(o, mode);
	}
	if (err)
		outfile_close(o);
	return err;
}

int outfile_place(struct outfile *o)
{
	if (!o->temporary)
		return 0;
	if (rename(o->temporary, o->path))
		return -errno;
	free(o->temporary);
	o->temporary = NULL;
	return 0;
}

FILE *outfile_stream(struct outfile *o)
{
	FILE *f = fdopen(o->fd, "w");

	if (f)
		o->fd = -1;
	return f;
}

int outfile_end(struct outfile *o, FILE *f, bool is_whole)
{
	int err = 0;

	errno = 0;
	if (fflush(f) || ferror(f))
		err = errno ? -errno : -EIO;
	if (fclose(f) && !err)
		err = -errno;
	return err || !is_whole ? err : outfile_place(o);
}

void outfile_close(struct outfile *o)
{
	if (o->temporary)
		unlink(o->temporary);
	free(o->temporary);
	free(o->path);
	if (o->fd >= 0)
		close(o->fd);
	*o = (struct outfile){.fd = -1};
}
