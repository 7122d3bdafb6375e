/* SPDX-License-Identifier: MIT */
/*
 * What /proc and /sys tell: files of a few lines, read at once.
 */
#ifndef PERFABI_SMALL_FILE_H
#define PERFABI_SMALL_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * The file's first size - 1 bytes and a NUL behind them. Their number, or a negative errno and an
 * empty text. `folder` is an open folder that a relative path starts from, or AT_FDCWD.
 */
ssize_t read_small_at(int folder, const char *path, char *text, size_t size);
ssize_t read_small(const char *path, char *text, size_t size);

/* The same, up to the first newline, which is left out: the line's length, or a negative errno. */
ssize_t read_line(const char *path, char *text, size_t size);

#endif
