/* SPDX-License-Identifier: MIT */
/*
 * A new file under another name in the same folder, which takes its place by rename(2).
 */
#include "capture/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *with_suffix(const char *path, const char *suffix)
{
	size_t size = strlen(path) + strlen(suffix) + 1;
	char *name = malloc(size);

	if (name)
		snprintf(name, size, "%s%s", path, suffix);
	return name;
}

int outfile_open(struct outfile *o, const char *path)
{
	struct stat st;
	int err;

	*o = (struct outfile){.path = path, .fd = -1};
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		o->fd = open(path, O_RDWR | O_CLOEXEC);
		return o->fd < 0 ? -errno : 0;
	}
	o->temporary = with_suffix(path, ".XXXXXX");
	if (!o->temporary)
		return -ENOMEM;
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd >= 0)
		return 0;
	err = -errno;
	free(o->temporary);
	o->temporary = NULL;
	return err;
}

/* An empty file is nothing to keep. */
static int keep_old(const char *path)
{
	struct stat st;
	char *old;
	int err;

	if (stat(path, &st) || !st.st_size)
		return 0;
	old = with_suffix(path, ".old");
	if (!old)
		return -ENOMEM;
	err = rename(path, old) ? -errno : 0;
	free(old);
	return err;
}

int outfile_place(struct outfile *o)
{
	int err;

	if (!o->temporary)
		return 0;
	err = keep_old(o->path);
	if (!err && rename(o->temporary, o->path))
		err = -errno;
	if (err)
		return err;
	free(o->temporary);
	o->temporary = NULL;
	return 0;
}

void outfile_close(struct outfile *o)
{
	if (o->temporary)
		unlink(o->temporary);
	free(o->temporary);
	if (o->fd >= 0)
		close(o->fd);
	*o = (struct outfile){.fd = -1};
}
